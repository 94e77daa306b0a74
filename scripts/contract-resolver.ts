import type { Document, Source } from '@redocly/openapi-core';
import { BaseResolver, YamlParseError } from '@redocly/openapi-core';
import { describeSyntaxError } from './bundle-problem.ts';
import { type CompleteFile, readCommonParts } from './common-parts.ts';
import type { JsonObject } from './openapi-document.ts';

/** Reads the files of a contract for the bundler and the linter, and adds the common parts of operations. */
export class ContractResolver extends BaseResolver {
  readonly #complete: CompleteFile;
  readonly #syntaxErrors: string[] = [];

  /** @param root path of the root document */
  constructor(root: string) {
    super();
    this.#complete = readCommonParts(root);
  }

  override parseDocument(source: Source, isRoot?: boolean): Document {
    const document = this.#parsed(source, isRoot);
    return { ...document, parsed: this.#complete(source.absoluteRef, document.parsed as JsonObject) };
  }

  #parsed(source: Source, isRoot?: boolean): Document {
    try {
      return super.parseDocument(source, isRoot);
    } catch (error) {
      if (error instanceof YamlParseError) this.#syntaxErrors.push(describeSyntaxError(error));
      throw error;
    }
  }

  /**
   * @throws Error with one line per file that is not YAML; the bundler itself would report such a file once per
   * reference to it
   */
  throwSyntaxErrors(): void {
    if (this.#syntaxErrors.length > 0) throw new Error(this.#syntaxErrors.join('\n'));
  }
}
