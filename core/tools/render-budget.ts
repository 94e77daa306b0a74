import { TOOL_REQUEST } from '../budgets.ts';
import { FileContent } from './file-content.ts';
import { inputProblem } from './input-problem.ts';
import type { ConvertedMarkdown } from './markdown-to-html.ts';
import { isRecord } from './pointer.ts';

/**
 * Limits the size of one rendered request. A template can make a large request from a short input: it can repeat the
 * name of a parameter or another input for each item of a list, or insert one stored file several times. Therefore the
 * parts of a request are counted before they are combined.
 */
export class RenderBudget {
  #nodes = 0;
  #bytes = 0;
  /** The Markdown that was converted so far: its characters, and the cells that its tables may have. */
  readonly markdown: ConvertedMarkdown = { chars: 0, cells: 0 };
  readonly #maxBytes: number;

  /** @param maxBytes the maximum size of all counted texts (1 byte per UTF-16 code unit) and files together */
  constructor(maxBytes: number = TOOL_REQUEST.bodyBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Counts one value. @throws ApiError INVALID_TOOL_INPUT */
  node(): void {
    if (++this.#nodes > TOOL_REQUEST.nodes) {
      throw inputProblem(undefined, `produces a request with more than ${TOOL_REQUEST.nodes} values`);
    }
  }

  /** Counts bytes of text or of a file. @throws ApiError INVALID_TOOL_INPUT */
  bytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.#maxBytes) {
      throw inputProblem(undefined, `produces a request of more than ${this.#maxBytes} bytes`);
    }
  }

  /** Counts a value that will be encoded as JSON. @throws ApiError INVALID_TOOL_INPUT */
  value(whole: unknown): void {
    const left = [whole];
    while (left.length > 0) {
      const value = left.pop();
      this.node();
      if (typeof value === 'string') this.bytes(value.length);
      else if (value instanceof FileContent) this.bytes(value.bytes.length);
      else if (Array.isArray(value)) for (const item of value) left.push(item);
      else if (isRecord(value)) {
        for (const [name, member] of Object.entries(value)) {
          this.bytes(name.length);
          left.push(member);
        }
      }
    }
  }
}
