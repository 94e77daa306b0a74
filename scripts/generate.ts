import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changedSources, DIGEST_FILE, type Source, sourceDigests } from './source-digest.ts';

const FOLDER = new URL('../generated/', import.meta.url);
const CATALOGUE = 'catalogue.json';

/** The generated files of one source, by name in `generated/`, and the problems of the source, one line each. */
interface Made {
  files: Record<string, string>;
  problems: string[];
}

/** The generators of each source; they are only loaded if their source has changed. */
const MAKE: Record<Source, () => Promise<Made>> = {
  async catalogue() {
    const { buildCatalogue } = await import('./catalogue.ts');
    const { text, problems } = await buildCatalogue();
    return { files: { [CATALOGUE]: text }, problems };
  },
  async spec() {
    const { makeContract } = await import('./contract-files.ts');
    return makeContract();
  },
};

const ALL = Object.keys(MAKE) as Source[];

async function make(sources: readonly Source[]): Promise<Made> {
  // Without this cache, a tenth of the run time is spent on compiling the packages that the generators load.
  enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/generate'));
  const made = [];
  for (const source of sources) made.push(await MAKE[source]());
  const files = Object.assign({ [DIGEST_FILE]: sourceDigests() }, ...made.map((one) => one.files));
  return { files, problems: made.flatMap(({ problems }) => problems) };
}

/** Returns the files in `generated/` that differ from the current sources; empty if all are up to date. */
export async function drift(): Promise<string[]> {
  return differing((await make(ALL)).files);
}

async function differing(wanted: Record<string, string>): Promise<string[]> {
  const names = Object.keys(wanted);
  const present = await Promise.all(names.map(current));
  return names.filter((name, index) => present[index] !== wanted[name]);
}

async function current(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), 'utf8').catch(() => '');
}

/** Writes the files of some sources. @returns the problems of these sources, one line each */
export async function write(sources: readonly Source[]): Promise<string[]> {
  const { files, problems } = await make(sources);
  await mkdir(new URL('validators/', FOLDER), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    // The file is replaced, not overwritten, because a running server still reads tools of the catalogue from the
    // file that it has opened.
    const temporary = new URL(`${name}.new`, FOLDER);
    await writeFile(temporary, content);
    await rename(temporary, new URL(name, FOLDER));
  }
  return problems;
}

/** Compares all files, and checks the contract with two general linters. */
async function check(): Promise<string[]> {
  const { files, problems } = await make(ALL);
  const stale = await differing(files);
  const { lintSpec } = await import('./lint-spec.ts');
  return [
    ...stale.map((name) => `generated/${name} is out of step with its source: run \`node scripts/generate.ts --all\``),
    ...problems,
    ...(await lintSpec()),
  ];
}

/** Prints each problem in one line, and makes the process fail if there is any. */
export async function report(finding: Promise<string[]>): Promise<void> {
  const problems = await finding.catch((error: Error) => error.message.split('\n'));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

/**
 * - without an option: writes the files whose sources have changed
 * - `--all`: writes all files, for a change of the generators themselves
 * - `--check`: writes nothing; fails if a file is not up to date or the linters find something
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, all: { type: 'boolean' } } });
  const sources = values.all ? ALL : changedSources(await current(DIGEST_FILE));
  await report(values.check ? check() : write(sources));
}

if (import.meta.main) await main();
