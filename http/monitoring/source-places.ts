import { readFileSync } from 'node:fs';

/** The folder of the built server (`scripts/build-server.ts`), and of the tables that map its lines to source lines. */
const BUILT = new URL('../../build/server/', import.meta.url);
const PLACE = new RegExp(`${RegExp.escape(BUILT.href)}([\\w-]+\\.js):(\\d+):\\d+`, 'g');

interface Lines {
  files: string[];
  /** For each run of lines: its first line in the built file, the index of its source file, and the source line. */
  runs: [line: number, file: number, sourceLine: number][];
}

const tables = new Map<string, Lines | null>();

/** Replaces the files and lines of the built server in a stack with those of the source files. */
export function withSourcePlaces(stack: string): string {
  return stack.replace(PLACE, (place, file: string, line: string) => sourceOf(file, Number(line)) ?? place);
}

function sourceOf(file: string, line: number): string | undefined {
  const table = tables.get(file) ?? read(file);
  tables.set(file, table);
  const run = table?.runs.findLast(([first]) => first <= line);
  return run && `${table?.files[run[1]]}:${run[2] + line - run[0]}`;
}

/** Returns null if the file has no table: the name is from the text of an error, which may name any file. */
function read(file: string): Lines | null {
  try {
    return JSON.parse(readFileSync(new URL(`${file}.lines.json`, BUILT), 'utf8')) as Lines;
  } catch {
    return null;
  }
}
