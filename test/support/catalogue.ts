import { type Catalogue, createCatalogue } from '../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import { readGenerated } from '../../wiring/generated-file.ts';

let catalogue: Catalogue | undefined;

/**
 * Returns the catalogue of built-in connectors and tools, which the servers of a process share because it never
 * changes.
 */
export function sharedCatalogue(): Catalogue {
  catalogue ??= createCatalogue(readCatalogueIndex(readGenerated('catalogue.json')));
  return catalogue;
}
