import { resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { createKeyCheckReads } from '../../core/keys/rotation-store.ts';
import { verifyKeyChecks } from '../../core/vault/key-check.ts';
import type { DatabaseFiles } from '../../db/store.ts';
import { readConfig } from '../../http/config/config.ts';
import { databaseFiles } from '../database-files.ts';
import { openVault } from '../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../output/print.ts';
import { UsageError } from '../usage-error.ts';

type Loaded = ReturnType<typeof readConfig>;

/**
 * `valetkey restore <backup> [--replace]`: replaces the database with a verified backup. The server must not be
 * running.
 */
export function configure(command: Command): void {
  command
    .argument('<backup>', 'a file of `valetkey backup`')
    .option('--replace', 'replace a database that exists; it is kept under another name')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('restore backups/before-upgrade.db', 'restore backups/before-upgrade.db --replace'))
    .action(async (file, options) => {
      const { databaseFile, kept, counts, madeAt } = await restore(resolve(file), options.replace === true);
      const result = { database: databaseFile, made_at: madeAt, counts, earlier_database: kept ?? null };
      printResult(options, result, () => {
        const restored = shown`Restored ${databaseFile} from the backup of ${madeAt}: ${counts['accounts']} accounts.`;
        if (!kept) return restored;
        return `${restored}\n${shown`The earlier database is kept as ${kept}. Delete it when it is not needed any more.`}`;
      });
    });
}

async function restore(backup: string, replace: boolean) {
  const loaded = readConfig(process.env);
  const { databaseFile } = loaded.config;
  const files = await databaseFiles(loaded);
  const target = files.lockTarget(databaseFile);
  try {
    const manifest = await files.verifyBackup(backup);
    await checkKeys(files, backup, loaded);
    if (target.exists && !replace) {
      const surplus = target.facts === null ? [] : files.missingFromBackup(target.facts, manifest);
      throw new UsageError(refusalToReplace(databaseFile, surplus));
    }
    const kept = target.replaceBy(backup, new Date());
    const { counts, madeAt } = manifest;
    return { databaseFile, kept, counts, madeAt };
  } finally {
    target.release();
  }
}

/** @throws VaultError if the available keys cannot decrypt the backup */
async function checkKeys(files: DatabaseFiles, backup: string, { config, secrets }: Loaded): Promise<void> {
  const { source } = openVault(config, secrets);
  const { read, close } = files.readBackup(backup);
  try {
    // A check value shows whether a key is the one that encrypted the data. If a key has none yet, none is stored here:
    // the next start of the server stores it.
    const checks = { ...createKeyCheckReads(read), addKeyCheck: async () => {} };
    await verifyKeyChecks(source.current(), checks, Date.now());
  } finally {
    close();
  }
}

function refusalToReplace(path: string, surplus: string[]): string {
  const newer = surplus.length > 0 ? `, which has ${surplus.join(', ')} more than the backup` : '';
  return `there is a database at ${path}${newer}. To replace it, add --replace; it is kept under another name`;
}
