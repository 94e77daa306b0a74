import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { BUNDLE, bundleFile, contractFiles } from './contract-files.ts';
import { lintSpec } from './lint-spec.ts';

const FOLDER = new URL('../generated/', import.meta.url);

/** The files in `generated/` that differ from what the sources say now; none when everything is in step. */
export async function drift(): Promise<string[]> {
  const wanted = Object.entries(await contractFiles());
  const present = await Promise.all(wanted.map(([name]) => readGenerated(name)));
  return wanted.filter(([, content], index) => content !== present[index]).map(([name]) => name);
}

/** Judges by the bundle alone: a start should not wait for types that nobody changed. */
async function isStale(): Promise<boolean> {
  return (await bundleFile()) !== (await readGenerated(BUNDLE));
}

function readGenerated(name: string): Promise<string | null> {
  return readFile(new URL(name, FOLDER), 'utf8').catch(() => null);
}

async function write(): Promise<void> {
  const files = await contractFiles();
  await mkdir(FOLDER, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(new URL(name, FOLDER), content);
}

/** Prints what is wrong, one line each, and lets the process fail when there is anything. */
function report(findings: readonly string[]): void {
  for (const finding of findings) console.error(finding);
  if (findings.length > 0) process.exitCode = 1;
}

/**
 * - without an option: writes `generated/` and lints the contract
 * - `--check`: writes nothing; fails when a file is out of step or the linters find something
 * - `--if-stale`: writes only when the contract changed since; for commands that need `generated/` and nothing more
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, 'if-stale': { type: 'boolean' } } });
  if (values['if-stale']) {
    if (await isStale()) await write();
  } else if (values.check) {
    const stale = await drift();
    report(stale.map((name) => `generated/${name} is out of step with its source: run \`make generate\``));
    report(await lintSpec());
  } else {
    await write();
    report(await lintSpec());
  }
}

if (import.meta.main) await main();
