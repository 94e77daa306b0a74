import { resolve } from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import { createKeyCheckReads } from '../../../core/keys/rotation-store.ts';
import { verifyKeyChecks } from '../../../core/vault/key-check.ts';
import { engineFor } from '../../../db/open-store.ts';
import { type CopyReport, copyDatabase } from '../../../db/store.ts';
import { databaseLocation, readConfig } from '../../../http/config/config.ts';
import { openVault } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';
import { UsageError } from '../../usage-error.ts';

const USAGE = 'give --from-file <path> or --to-file <path>; the other side is the server that DATABASE_URL names';

/**
 * `valetkey db copy --from-file <path>` copies a database file to the database server that `DATABASE_URL` names, and
 * `--to-file <path>` copies from that server to a new file. No Valetkey server may be running.
 */
export function configure(command: Command): void {
  command
    .addOption(new Option('--from-file <path>', 'copy a database file to the server').conflicts('toFile'))
    .option('--to-file <path>', 'copy the server to a new database file')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('db copy --from-file data/valetkey.db', 'db copy --to-file valetkey.db'))
    .action(async (options) => {
      const [fromFile, toFile] = [options.fromFile, options.toFile].map((path) => path && resolve(path));
      if (fromFile === undefined && toFile === undefined) throw new UsageError(USAGE);
      const { report, setting } = await copy(fromFile, toFile);
      printResult(options, report, () => describe(report, setting));
    });
}

async function copy(fromFile: string | undefined, toFile: string | undefined) {
  const { config, secrets } = readConfig(process.env);
  if (secrets.databaseUrl === null)
    throw new UsageError('DATABASE_URL must name the database server: postgres://user@host/database');
  const url = databaseLocation(config, secrets);
  const [from, to] = fromFile === undefined ? [url, toFile as string] : [fromFile, url];
  const { source: keys } = openVault(config, secrets);
  // The target is opened first, because opening it fails if an earlier copy has filled it. In that case, the source is
  // not opened, and keeps the mark of the earlier copy, which prevents servers from starting with it.
  const target = await (await engineFor(to)).copyTarget(to, Date.now);
  try {
    const source = await (await engineFor(from)).copySource(from);
    const progress = createProgress({ unit: 'rows' });
    try {
      const report = await copyDatabase(source, target, {
        now: Date.now,
        progress: (phase, table, rows, total) => progress.report(rows, total, `${table} ${phase}`),
        // A check value shows whether a key is the one that encrypted the data. If a key has none yet, none is stored
        // here: the next start of a server stores it.
        checkKeys: ({ read }) =>
          verifyKeyChecks(keys.current(), { ...createKeyCheckReads(read), addKeyCheck: async () => {} }, Date.now()),
      });
      return { report, setting: fromFile === undefined ? `DATABASE_URL=${to}` : 'the same DATABASE_URL' };
    } finally {
      progress.end();
      await source.close();
    }
  } finally {
    await target.close();
  }
}

function describe({ counts, audit }: CopyReport, setting: string): string {
  const records = Object.values(audit).reduce((sum, rows) => sum + rows, 0);
  return [
    `Copied and verified: ${counts['accounts']} accounts, ${counts['executions']} executions, ${records} audit records.`,
    `Start the servers with ${setting}. The source is kept, but no server starts with it any more.`,
  ].join('\n');
}
