import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeyCheckReads } from '../core/keys/rotation-store.ts';
import { verifyKeyChecks } from '../core/vault/key-check.ts';
import type { Manifest } from '../db/sqlite/backup/manifest.ts';
import { readRepositories } from '../db/sqlite/backup/read.ts';
import { type Target, takeTarget } from '../db/sqlite/backup/restore.ts';
import { surplusOf, verifyBackup } from '../db/sqlite/backup/verify.ts';
import { readConfig } from '../http/config.ts';
import { openVault } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

type Loaded = ReturnType<typeof readConfig>;

/** `valetkey restore <backup> [--replace]`: puts a verified backup in the place of the database. The server must not run. */
export async function restoreCommand(args: string[]): Promise<void> {
  const { backup, replace } = readOptions(args);
  const loaded = readConfig(process.env);
  const { databaseFile } = loaded.config;
  const target = takeTarget(databaseFile);
  try {
    const manifest = await verifyBackup(backup);
    await checkKeys(backup, loaded);
    if (target.exists && !replace) throw new UsageError(refusalToReplace(databaseFile, target, manifest));
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

/** @throws VaultError when the keys at hand cannot open what the backup holds */
async function checkKeys(backup: string, { config, secrets }: Loaded): Promise<void> {
  const { source } = openVault(config, secrets);
  const { read, close } = readRepositories(backup);
  try {
    // The keys of the ring that the backup does not know are stored at the next start.
    const checks = { ...createKeyCheckReads(read), addKeyCheck: async () => {} };
    await verifyKeyChecks(source.current(), checks, Date.now());
  } finally {
    close();
  }
}

function refusalToReplace(path: string, { facts }: Target, manifest: Manifest): string {
  const surplus = facts === null ? [] : surplusOf(facts, manifest);
  const newer = surplus.length > 0 ? `, which has ${surplus.join(', ')} more than the backup` : '';
  return `there is a database at ${path}${newer}. To replace it, add --replace; it is kept under another name`;
}
