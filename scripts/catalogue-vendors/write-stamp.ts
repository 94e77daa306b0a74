import { readFile, writeFile } from 'node:fs/promises';
import { isMap, parseDocument } from 'yaml';

const ROOT = new URL('../../', import.meta.url);

/**
 * Writes into the file of a tool which description it was compared with; its other lines are not changed.
 *
 * @param on a date, YYYY-MM-DD
 */
export async function writeStamp(file: string, stamp: string, on: string): Promise<void> {
  const path = new URL(file, ROOT);
  const text = await readFile(path, 'utf8');
  await writeFile(path, withStamp(text, stamp, on));
}

/** Returns the text of a tool with its stamp replaced, or added at the end. */
export function withStamp(text: string, stamp: string, on: string): string {
  const old = parseDocument(text).get('compared', true);
  const lines = [`  with: '${stamp}'`, `  on: '${on}'`];
  if (!isMap(old) || !old.range) return `${text.trimEnd()}\ncompared:\n${lines.join('\n')}\n`;
  const [start, , end] = old.range;
  const kept = text
    .slice(start, end)
    .split('\n')
    .filter((line, index) => !/^ {2}(with|on):/.test(index === 0 ? `  ${line}` : line) && line.trim() !== '');
  return `${text.slice(0, start).trimEnd()}\n${[...lines, ...kept].join('\n')}\n${text.slice(end)}`;
}
