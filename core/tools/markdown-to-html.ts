import { createRequire } from 'node:module';
import type { MarkdownIt } from 'markdown-it';
import { TOOL_REQUEST } from '../budgets.ts';

const require = createRequire(import.meta.url);
/** The maximum number of table cells. The renderer fills up short rows, so a short text could become a large table. */
const MAX_CELLS = 20_000;

/** The total size of the Markdown that was converted for one request so far. */
export interface ConvertedMarkdown {
  chars: number;
  /** The maximum number of cells that its tables can have. */
  cells: number;
}

let renderer: MarkdownIt | undefined;

/**
 * Converts Markdown (CommonMark, with tables and strikethrough) to HTML that is also well-formed XML. HTML within the
 * Markdown is escaped, and links with a scheme that can run scripts are not converted. The package is loaded at first
 * use.
 *
 * @param converted the totals of the same request; this text is added to them
 * @returns the HTML, or the rest of an error message whose subject is the input
 */
export function markdownToHtml(markdown: string, converted: ConvertedMarkdown): { html: string } | { problem: string } {
  converted.chars += markdown.length;
  if (converted.chars > TOOL_REQUEST.markdownChars) {
    return { problem: `must be Markdown of at most ${TOOL_REQUEST.markdownChars} characters` };
  }
  converted.cells += possibleCells(markdown);
  if (converted.cells > MAX_CELLS) {
    return { problem: `must have smaller tables: its lines times the most "|" in a line must be at most ${MAX_CELLS}` };
  }
  renderer ??= new (require('markdown-it') as typeof MarkdownIt)({ html: false, xhtmlOut: true });
  return { html: renderer.render(markdown) };
}

/** Returns the maximum number of table cells: the number of lines multiplied by the most bars (`|`) in any line. */
function possibleCells(markdown: string): number {
  const bars = markdown.split('\n').map((line) => line.split('|').length - 1);
  return bars.length * bars.reduce((most, count) => Math.max(most, count), 0);
}
