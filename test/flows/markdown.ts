import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../..');

/** A fenced block of a page. */
export interface Block {
  language: string;
  text: string;
  /** The text of the nearest heading above the block. */
  heading: string;
  line: number;
}

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Returns the fenced blocks of a Markdown text, in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: (Block & { lines: string[] }) | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open && line === '```') {
      blocks.push({ language: open.language, heading: open.heading, line: open.line, text: open.lines.join('\n') });
      open = null;
    } else if (open) open.lines.push(line);
    else if (line.startsWith('```')) open = { language: line.slice(3), heading, line: index + 1, text: '', lines: [] };
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
  }
  return blocks;
}

/** Returns the text between a heading of the second level and the next heading. @throws if the heading is missing */
export function sectionOf(markdown: string, heading: string): string {
  const section = markdown.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`there is no section ${heading}`);
  return section.slice(heading.length + 1);
}
