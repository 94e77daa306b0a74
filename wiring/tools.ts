import { type Catalogue, createCatalogue } from '../core/connectors/catalogue.ts';
import { createToolDirectory, type ToolDirectory } from '../core/discovery/directory.ts';
import { createInputChecker, type InputChecker } from '../core/tools/input.ts';
import { createOwnInputChecker, type OwnInputChecker } from '../core/tools/own-input.ts';
import { createToolValidator, type ToolValidator } from '../core/tools/tool-validator.ts';
import { openCatalogueIndex } from './generated-file.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';

export interface Tools {
  /** Built-in connectors and tools. */
  readonly catalogue: Catalogue;
  /** The tools of the catalogue and those of each environment. */
  readonly toolDirectory: ToolDirectory;
  /** Checks inputs of tools of the catalogue. */
  readonly toolInputs: InputChecker;
  /** Checks inputs of tools that environments have added. */
  readonly ownInputs: OwnInputChecker;
  /** Validates tools that clients write. */
  readonly toolValidator: ToolValidator;
}

/** Loads the catalogue, and creates the parts that find tools and check their inputs. */
export function createTools(
  { choose, closing }: Pick<Setup, 'choose' | 'closing'>,
  { threads }: Pick<Runtime, 'threads'>,
): Tools {
  const catalogue = choose('catalogue', () => createCatalogue(openCatalogueIndex(closing)));
  return {
    catalogue,
    toolDirectory: choose('toolDirectory', () => createToolDirectory(catalogue)),
    toolInputs: createInputChecker(),
    ownInputs: createOwnInputChecker(threads.short),
    toolValidator: createToolValidator(threads.short, new URL('../catalogue/', import.meta.url)),
  };
}
