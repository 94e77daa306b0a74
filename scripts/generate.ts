import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { buildCatalogue } from './catalogue.ts';
import { contractFiles } from './contract-files.ts';
import { lintSpec } from './lint-spec.ts';
import { DIGEST_FILE, sourceDigest } from './source-digest.ts';

const FOLDER = new URL('../generated/', import.meta.url);
const CATALOGUE = 'catalogue.json';

/** Everything in `generated/`, by file name, from `spec/` and `catalogue/`. */
async function generatedFiles(): Promise<Record<string, string>> {
  const { text } = await buildCatalogue();
  return { ...(await contractFiles()), [CATALOGUE]: text, [DIGEST_FILE]: sourceDigest() };
}

/** The files in `generated/` that differ from what the sources say now; none when everything is in step. */
export async function drift(): Promise<string[]> {
  return differing(await generatedFiles());
}

async function differing(wanted: Record<string, string>): Promise<string[]> {
  const names = Object.keys(wanted);
  const present = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER), 'utf8').catch(() => null)));
  return names.filter((name, index) => present[index] !== wanted[name]);
}

/** Writes everything in `generated/` anew. */
export async function write(): Promise<void> {
  const files = await generatedFiles();
  await mkdir(FOLDER, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(new URL(name, FOLDER), content);
}

/** What is wrong with the sources themselves, one line each. */
async function findings(): Promise<string[]> {
  return [...(await buildCatalogue()).problems, ...(await lintSpec())];
}

/** Prints one line each, and lets the process fail when there is any. */
function report(lines: readonly string[]): void {
  for (const line of lines) console.error(line);
  if (lines.length > 0) process.exitCode = 1;
}

/**
 * - without an option: writes `generated/` and lints the sources
 * - `--check`: writes nothing; fails when a file is out of step or the linters find something
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
  if (values.check) {
    const stale = await drift();
    report(stale.map((name) => `generated/${name} is out of step with its source: run \`make generate\``));
  } else {
    await write();
  }
  report(await findings());
}

if (import.meta.main) await main();
