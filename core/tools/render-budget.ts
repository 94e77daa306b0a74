import { TOOL_REQUEST } from '../budgets.ts';
import { FileContent } from './file-content.ts';
import { inputProblem } from './input-problem.ts';
import type { ConvertedMarkdown } from './markdown-to-html.ts';
import { isRecord } from './pointer.ts';

/**
 * Limits the size of one rendered request. A template can repeat a short input many times: as the name of each item of
 * a list, in a template for each item, or as a file that a list names repeatedly. So the parts of a request are counted
 * before they are combined.
 */
export class RenderBudget {
  #nodes = 0;
  #bytes = 0;
  /** The Markdown that was converted so far: its characters, and the cells that its tables may have. */
  readonly markdown: ConvertedMarkdown = { chars: 0, cells: 0 };
  readonly #maxBytes: number;

  /** @param maxBytes the maximum number of bytes of all counted texts and files together */
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
