import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { programVersion } from '../../core/program-version.ts';
import type { Manifest } from '../../db/store.ts';
import { readConfig } from '../../http/config/config.ts';
import { databaseFiles } from '../database-files.ts';
import { wholeNumber } from '../options.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../output/print.ts';
import { createProgress } from '../output/progress.ts';
import { UsageError } from '../usage-error.ts';

const USAGE = 'give either <file>, or --dir <directory> [--keep <number>]';
/** The names of backups in `--dir`. They sort by time, and only files with such names are removed. */
const NAME = /^valetkey-\d{8}T\d{6}Z\.db$/;
const MIB = 1024 * 1024;

/**
 * `valetkey backup <file>` or `--dir <directory> [--keep <number>]`: makes a verified copy of the database, with or
 * without a running server.
 */
export function configure(command: Command): void {
  command
    .argument('[file]', 'the new file')
    .option('--dir <directory>', 'instead of a file: a directory, in which the file is named by the time')
    .option('--keep <number>', 'keep this many backups in the directory; remove older ones', wholeNumber(1, 99_999))
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('backup backups/before-upgrade.db', 'backup --dir /var/backups/valetkey --keep 14'))
    .action(async (file, options) => {
      const { dir: directory, keep } = options;
      if ((file === undefined) === (directory === undefined)) throw new UsageError(USAGE);
      if (keep !== undefined && directory === undefined) throw new UsageError('--keep needs --dir');
      const now = new Date();
      const target = resolve(file ?? join(directory as string, nameOf(now)));
      const manifest = await makeBackup(target, now);
      const removed = directory !== undefined && keep !== undefined ? removeOldest(directory, keep) : [];
      const result = { file: target, bytes: statSync(target).size, ...manifest, removed };
      printResult(options, result, () =>
        [describe(target, manifest), ...removed.map((path) => shown`Removed ${path}`)].join('\n'),
      );
    });
}

async function makeBackup(target: string, now: Date): Promise<Manifest> {
  const loaded = readConfig(process.env);
  const { config } = loaded;
  const files = await databaseFiles(loaded);
  if (!existsSync(config.databaseFile)) {
    throw new UsageError(`there is no database at ${config.databaseFile}; set DATA_DIR, or start the server first`);
  }
  // If a signal ends the process, the exit handler of the backup removes the unfinished file.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const progress = createProgress({ unit: 'MiB' });
  try {
    return await files.makeBackup({
      source: config.databaseFile,
      target,
      now,
      program: programVersion(),
      progress: (phase, written, total) => progress.report(Math.floor(written / MIB), Math.ceil(total / MIB), phase),
    });
  } finally {
    progress.end();
  }
}

function nameOf(now: Date): string {
  return `valetkey-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.db`;
}

function describe(target: string, { counts, keyIds, schema }: Manifest): string {
  const size = Math.ceil(statSync(target).size / MIB);
  return [
    shown`Backup made and verified: ${target} (${size} MiB)`,
    `  ${counts['accounts']} accounts, ${counts['executions']} executions, ${counts['audit_log']} audit records; schema ${schema}`,
    `  A restore needs the keys ${keyIds.join(', ')}`,
  ].join('\n');
}

/** @returns the paths of the removed files */
function removeOldest(directory: string, keep: number): string[] {
  const names = readdirSync(directory).filter((name) => NAME.test(name));
  const oldest = names.sort().slice(0, -keep);
  for (const name of oldest) rmSync(join(directory, name));
  return oldest.map((name) => join(directory, name));
}
