import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Checks that only the engines' folders in `db/` contain SQL words that one kind of database uses, so that other
 * engines can use the same repositories.
 */
const FOLDERS = ['core', 'handlers', 'http', 'cli', 'db', 'wiring'];
const ENGINES = ['db/sqlite/', 'db/postgres/'];

const WORDS =
  /sqlite|\bwal\b|-wal\b|-shm\b|\bfts5\b|\browid\b|\bwithout rowid\b|\bjson_(each|tree|extract|patch|group_array)\b/i;
/** Further such words, which are only reported in `db/`, because elsewhere `pragma` is an HTTP header. */
const WORDS_OF_DB =
  /\bpragma\b|\bsavepoints?\b|\binstr\(|select value from|\bpg_|\bbytea\b|\bjsonb\b|\bctid\b|skip locked/i;

/** Files that may contain such words, and the reason. */
const ALLOWED: Record<string, string> = {
  'db/drizzle.ts': 'the one import of the query builder, whose module for SQLite builds the texts of all engines',
  'db/open-store.ts': 'chooses the engine',
};

/** Returns one line for each use of such a word outside of an engine. */
export function findEngineWords(root: string): string[] {
  return FOLDERS.flatMap((folder) => sourceFiles(join(root, folder))).flatMap((path) =>
    problemsIn(relative(root, path), readFileSync(path, 'utf8')),
  );
}

/** Checks one file, given as a path from the root and its text. Comments are also checked. */
export function problemsIn(file: string, text: string): string[] {
  if (ENGINES.some((folder) => file.startsWith(folder)) || Object.hasOwn(ALLOWED, file)) return [];
  return text
    .split('\n')
    .flatMap((line, index) =>
      WORDS.test(line) || (file.startsWith('db/') && WORDS_OF_DB.test(line))
        ? [`${file}:${index + 1} depends on one database: ${line.trim()}`]
        : [],
    );
}

function sourceFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((e) => e.isFile() && /\.(ts|js|sql)$/.test(e.name)).map((e) => join(e.parentPath, e.name));
}

if (import.meta.main) {
  const found = findEngineWords(join(import.meta.dirname, '..'));
  for (const line of found) console.error(line);
  if (found.length > 0) {
    console.error('Write it in the engine, or ask the dialect: docs/architecture.md, "Storage".');
    process.exit(1);
  }
  console.log('storage port: each database is known to its engine alone');
}
