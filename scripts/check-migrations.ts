import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The file with a line `<SHA-256>  <name>` for each migration of its folder, in the format of sha256sum(1). */
const LIST = 'SHA256SUMS';
const FOLDERS = ['sqlite', 'postgres'].map((engine) => join(import.meta.dirname, `../db/${engine}/migrations`));

/** Digests of migrations by name, in the order of the list. */
type Digests = ReadonlyMap<string, string>;

function readList(folder: string): Digests {
  const file = join(folder, LIST);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

function readFolder(folder: string): Digests {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return new Map(
    names.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

/**
 * Compares the migrations of a folder with their recorded digests. A database stores the digest of each applied
 * migration, so a migration must never change: a change of the schema needs a new file.
 *
 * @returns one line for each migration that was changed, removed, not recorded, or is sorted before a recorded one
 */
export function migrationProblems(folder: string): string[] {
  const recorded = readList(folder);
  const present = readFolder(folder);
  const changed = [...recorded].flatMap(([name, digest]) => {
    if (!present.has(name)) return [`${name} is missing: migrations are never removed or renamed. Restore it`];
    if (present.get(name) === digest) return [];
    return [`${name} differs from its digest in ${LIST}: migrations never change. Restore it, and add a new file`];
  });
  return [...changed, ...newNames(recorded, present).map((name) => newFileProblem(name, recorded))];
}

function newNames(recorded: Digests, present: Digests): string[] {
  return [...present.keys()].filter((name) => !recorded.has(name));
}

function newFileProblem(name: string, recorded: Digests): string {
  const last = [...recorded.keys()].at(-1);
  if (last !== undefined && name < last)
    return `${name} sorts before ${last}, which is recorded: give it a higher number`;
  return `${name} has no digest in ${LIST}: run node scripts/check-migrations.ts --add`;
}

/** Records the digests of new migrations without changing existing ones. @returns the names of the new ones */
export function addMigrations(folder: string): string[] {
  const [recorded, present] = [readList(folder), readFolder(folder)];
  const added = newNames(recorded, present);
  const all = [...recorded, ...added.map((name) => [name, present.get(name) as string] as const)];
  writeFileSync(join(folder, LIST), all.map(([name, digest]) => `${digest}  ${name}\n`).join(''));
  return added;
}

function main(): void {
  const { values } = parseArgs({ options: { add: { type: 'boolean' } } });
  if (values.add) {
    for (const folder of FOLDERS) for (const name of addMigrations(folder)) console.log(`${name} is recorded`);
  }
  const problems = FOLDERS.flatMap(migrationProblems);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log('migrations: as recorded');
}

if (import.meta.main) main();
