import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeyCheckReads } from '../core/keys/rotation-store.ts';
import { verifyKeyChecks } from '../core/vault/key-check.ts';
import type { DatabaseFiles } from '../db/store.ts';
import { readConfig } from '../http/config/config.ts';
import { databaseFiles } from './database-files.ts';
import { openVault } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

type Loaded = ReturnType<typeof readConfig>;

/**
 * `valetkey restore <backup> [--replace]`: replaces the database by a verified backup. The server must not be running.
 */
export async function restoreCommand(args: string[]): Promise<void> {
  const { backup, replace } = readOptions(args);
  const loaded = readConfig(process.env);
  const { databaseFile } = loaded.config;
  const files = await databaseFiles(loaded);
  const target = files.takeTarget(databaseFile);
  try {
    const manifest = await files.verifyBackup(backup);
    await checkKeys(files, backup, loaded);
    if (target.exists && !replace) {
      const surplus = target.facts === null ? [] : files.surplusOf(target.facts, manifest);
      throw new UsageError(refusalToReplace(databaseFile, surplus));
    }
    const kept = target.replaceBy(backup, new Date());
    const { counts, madeAt } = manifest;
    console.log(`Restored ${databaseFile} from the backup of ${madeAt}: ${counts['accounts']} accounts.`);
    if (kept) console.log(`The earlier database is kept as ${kept}. Delete it when it is not needed any more.`);
  } finally {
    target.release();
  }
}

function readOptions(args: string[]): { backup: string; replace: boolean } {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { replace: { type: 'boolean' } },
      allowPositionals: true,
    });
    const [backup, ...others] = positionals;
    if (backup === undefined || others.length > 0) throw new Error('give the file of one backup');
    return { backup: resolve(backup), replace: values.replace ?? false };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** @throws VaultError if the available keys cannot decrypt the backup */
async function checkKeys(files: DatabaseFiles, backup: string, { config, secrets }: Loaded): Promise<void> {
  const { source } = openVault(config, secrets);
  const { read, close } = files.readBackup(backup);
  try {
    // Keys of the ring that the backup does not know are stored at the next start.
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
