import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { EnvironmentId, Store } from '../../../db/store.ts';
import { verifyArchive } from '../../../db/verify-archive.ts';
import { auditDirectory } from '../../../http/config/config.ts';
import { EXIT } from '../../exit-codes.ts';
import { openStorage } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../../output/print.ts';

/**
 * The verdict on the audit log of one environment. `problem` describes the first wrong record or file; null if the log
 * is intact.
 */
interface Verdict {
  environment_id: EnvironmentId;
  intact: boolean;
  archived: { files: number; records: number };
  in_database: number | null;
  problem: string | null;
}

/**
 * `valetkey audit verify`: checks the audit log of each environment and its archive. Exits with 1 if records are
 * missing or were changed.
 */
export function configure(command: Command): void {
  command
    .option('--archive <directory>', 'the directory of the archive, if it is not in DATA_DIR')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('audit verify', 'audit verify --archive /mnt/audit-archive', 'audit verify --json'))
    .action(async (options) => {
      const { config, store } = await openStorage();
      const archive = options.archive ?? auditDirectory(config);
      const verdicts: Verdict[] = [];
      try {
        for (const { id } of await store.read.environments.list())
          verdicts.push(await verifyEnvironment(store, id, join(archive, id)));
      } finally {
        await store.close();
      }
      printResult(options, verdicts, () => verdicts.map(sentence).join('\n'));
      if (verdicts.some(({ intact }) => !intact)) process.exitCode = EXIT.failed;
    });
}

async function verifyEnvironment(store: Store, id: EnvironmentId, directory: string): Promise<Verdict> {
  const database = await store.read.audit.verifyChain(id);
  const { problem: missing, ...archived } = await verifyArchives(store, id, directory);
  const broken = database.intact ? undefined : `the audit log in the database is broken at seq ${database.brokenAt}`;
  const problem = broken ?? missing ?? null;
  const inDatabase = database.intact ? database.rows : null;
  return { environment_id: id, intact: problem === null, archived, in_database: inDatabase, problem };
}

/** Verifies the archive of each chain that has archived records. */
async function verifyArchives(store: Store, id: EnvironmentId, directory: string) {
  const total: { files: number; records: number; problem?: string } = { files: 0, records: 0 };
  for (const { removed, ...chain } of await store.read.audit.chains(id)) {
    if (!removed) continue;
    const verdict = await verifyArchive(directory, id, { ...chain, removed });
    if (!verdict.intact) return { ...total, problem: verdict.problem };
    total.files += verdict.files;
    total.records += verdict.records;
  }
  return total;
}

function sentence({ environment_id, archived, in_database, problem }: Verdict): string {
  if (problem !== null) return shown`${environment_id}: ${problem}`;
  const inFiles = archived.files > 0 ? `${archived.records} in ${archived.files} files of the archive, ` : '';
  return `${environment_id}: the audit log is complete: ${inFiles}${in_database} in the database`;
}
