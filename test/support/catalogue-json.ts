import { readFileSync } from 'node:fs';
import type { Connector } from '../../core/connectors/provider.ts';
import type { Tool } from '../../core/tools/tool.ts';

export interface CatalogueJson {
  connectors: Record<string, Connector>;
  tools: Record<string, Tool>;
}

/** Returns the generated index as plain JSON. */
export function readCatalogueJson(): CatalogueJson {
  return JSON.parse(readFileSync(new URL('../../generated/catalogue.json', import.meta.url), 'utf8'));
}
