import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeyCheckReads } from '../core/keys/rotation-store.ts';
import { verifyKeyChecks } from '../core/vault/key-check.ts';
import { engineFor } from '../db/open-store.ts';
import { type CopyReport, copyDatabase } from '../db/store.ts';
import { databaseLocation, readConfig } from '../http/config/config.ts';
import { openVault } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

const USAGE = 'give --from-file <path> or --to-file <path>; the other side is the server that DATABASE_URL names';
const REPORT_EVERY_MS = 5_000;

/**
 * `valetkey db copy --from-file <path>` copies a database file to the database server that `DATABASE_URL` names, and
 * `--to-file <path>` copies that to a new file. No server may be running.
 */
export async function dbCopyCommand(args: string[]): Promise<void> {
  const { fromFile, toFile } = readOptions(args);
  const { config, secrets } = readConfig(process.env);
  if (secrets.databaseUrl === null) throw new UsageError('DATABASE_URL must be postgres://…, the database server');
  const url = databaseLocation(config, secrets);
  const [from, to] = fromFile === undefined ? [url, toFile as string] : [fromFile, url];
  const { source: keys } = openVault(config, secrets);
  // The target comes first: if it was filled by an earlier copy, the mark of its source must not be touched.
  const target = await (await engineFor(to)).copyTarget(to, Date.now);
  try {
    const source = await (await engineFor(from)).copySource(from);
    try {
      const report = await copyDatabase(source, target, {
        now: Date.now,
        progress: createProgress(),
        // A key of the ring that the database does not know is added at the next start.
        checkKeys: ({ read }) =>
          verifyKeyChecks(keys.current(), { ...createKeyCheckReads(read), addKeyCheck: async () => {} }, Date.now()),
      });
      console.log(describe(report, fromFile === undefined ? `DATABASE_URL=${to}` : 'the same DATABASE_URL'));
    } finally {
      await source.close();
    }
  } finally {
    await target.close();
  }
}

function readOptions(args: string[]): { fromFile: string | undefined; toFile: string | undefined } {
  const path = { type: 'string' } as const;
  let values: { 'from-file'?: string; 'to-file'?: string };
  try {
    values = parseArgs({ args, options: { 'from-file': path, 'to-file': path } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { 'from-file': from, 'to-file': to } = values;
  if ((from === undefined) === (to === undefined)) throw new UsageError(USAGE);
  return { fromFile: from && resolve(from), toFile: to && resolve(to) };
}

/** Reports the progress of a slow copy on standard error. */
function createProgress() {
  let reportedAt = performance.now();
  return (phase: 'copied' | 'verified', table: string, rows: number, total: number): void => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    console.error(`${phase} ${rows} of ${total} rows of ${table}`);
  };
}

function describe({ counts, audit }: CopyReport, setting: string): string {
  const records = Object.values(audit).reduce((sum, rows) => sum + rows, 0);
  return [
    `Copied and verified: ${counts['accounts']} accounts, ${counts['executions']} executions, ${records} audit records.`,
    `Start the servers with ${setting}. The source is kept, but no server starts with it any more.`,
  ].join('\n');
}
