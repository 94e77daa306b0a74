import { createRequire } from 'node:module';
import type { MarkdownIt } from 'markdown-it';
import { TOOL_REQUEST } from '../budgets.ts';

const require = createRequire(import.meta.url);
/** Cells that the rows of a table lack are added, so a short text could become a large table. */
const MAX_CELLS = 20_000;

/** What one request has converted. */
export interface ConvertedMarkdown {
  chars: number;
  /** The cells that its tables may have. */
  cells: number;
}

let renderer: MarkdownIt | undefined;

/**
 * Converts Markdown (CommonMark, with tables and strikethrough) to HTML that is also well-formed XML. HTML within the
 * text becomes text, and links can only have schemes that run no script. The package is loaded with the first text.
 *
 * @param converted by the same request before; this text is added
 * @returns the HTML, or why the text is refused
 */
export function markdownToHtml(markdown: string, converted: ConvertedMarkdown): { html: string } | { problem: string } {
  converted.chars += markdown.length;
  if (converted.chars > TOOL_REQUEST.markdownChars) {
    return { problem: `must be Markdown of at most ${TOOL_REQUEST.markdownChars} characters` };
  }
  converted.cells += possibleCells(markdown);
  if (converted.cells > MAX_CELLS) return { problem: 'must have smaller tables' };
  renderer ??= new (require('markdown-it') as typeof MarkdownIt)({ html: false, xhtmlOut: true });
  return { html: renderer.render(markdown) };
}

/** Returns the cells of a table with the most bars of any line in each line. */
function possibleCells(markdown: string): number {
  const bars = markdown.split('\n').map((line) => line.split('|').length - 1);
  return bars.length * bars.reduce((most, count) => Math.max(most, count), 0);
}
