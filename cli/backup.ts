import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { programVersion } from '../core/program-version.ts';
import type { Manifest } from '../db/store.ts';
import { readConfig } from '../http/config/config.ts';
import { databaseFiles } from './database-files.ts';
import { UsageError } from './usage-error.ts';

const USAGE = 'give either <file>, or --dir <directory> [--keep <number>]';
/** The names of backups in `--dir`: they sort by time, and no other file is ever removed. */
const NAME = /^valetkey-\d{8}T\d{6}Z\.db$/;
const MIB = 1024 * 1024;
const REPORT_EVERY_MS = 5_000;

/** `valetkey backup <file>` or `--dir <directory> [--keep <number>]`: works with or without a running server. */
export async function backupCommand(args: string[]): Promise<void> {
  const { file, directory, keep } = readOptions(args);
  const loaded = readConfig(process.env);
  const { config } = loaded;
  const files = await databaseFiles(loaded);
  if (!existsSync(config.databaseFile)) {
    throw new UsageError(`there is no database at ${config.databaseFile}; set DATA_DIR, or start the server first`);
  }
  // If a signal ends the process, its exit handler removes the unfinished file.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const now = new Date();
  const target = resolve(file ?? join(directory as string, nameOf(now)));
  const manifest = await files.makeBackup({
    source: config.databaseFile,
    target,
    now,
    program: programVersion(),
    progress: createProgress(),
  });
  console.log(describe(target, manifest));
  if (directory !== undefined && keep !== undefined) removeOldest(directory, keep);
}

function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  let parsed: { values: { dir?: string; keep?: string }; positionals: string[] };
  try {
    parsed = parseArgs({ args, options: { dir: text, keep: text }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { dir: directory, keep } = parsed.values;
  const [file, ...others] = parsed.positionals;
  if (others.length > 0 || (file === undefined) === (directory === undefined)) throw new UsageError(USAGE);
  if (keep === undefined) return { file, directory, keep: undefined };
  if (directory === undefined || !/^[1-9]\d{0,4}$/.test(keep)) {
    throw new UsageError('--keep must be a number from 1 to 99999, and goes with --dir');
  }
  return { file, directory, keep: Number(keep) };
}

function nameOf(now: Date): string {
  return `valetkey-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.db`;
}

/** Reports the progress of a slow backup on standard error. */
function createProgress() {
  let reportedAt = performance.now();
  return (phase: 'copying' | 'verifying', written: number, total: number): void => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    const share = total === 0 ? '' : ` of ${Math.ceil(total / MIB)} MiB`;
    console.error(phase === 'copying' ? `copied ${Math.floor(written / MIB)}${share}` : 'verifying the copy');
  };
}

function describe(target: string, { counts, keyIds, schema }: Manifest): string {
  const size = Math.ceil(statSync(target).size / MIB);
  return [
    `Backup made and verified: ${target} (${size} MiB)`,
    `  ${counts['accounts']} accounts, ${counts['executions']} executions, ${counts['audit_log']} audit records; schema ${schema}`,
    `  A restore needs the keys ${keyIds.join(', ')}`,
  ].join('\n');
}

function removeOldest(directory: string, keep: number): void {
  const names = readdirSync(directory).filter((name) => NAME.test(name));
  for (const name of names.sort().slice(0, -keep)) {
    rmSync(join(directory, name));
    console.log(`Removed ${join(directory, name)}`);
  }
}
