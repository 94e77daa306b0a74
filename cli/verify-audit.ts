import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EnvironmentId, EnvironmentRow, Store } from '../db/store.ts';
import { verifyArchive } from '../db/verify-archive.ts';
import { auditDirectory } from '../http/config/config.ts';
import { openStorage } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

/**
 * `valetkey verify-audit`: exits with 1 if the audit log of an environment, or its archive, is not a complete chain.
 */
export async function verifyAuditCommand(args: string[]): Promise<void> {
  const given = readDirectory(args);
  const { config, store } = await openStorage();
  const archive = given ?? auditDirectory(config);
  try {
    for (const environment of await store.read.environments.list()) {
      const problem = await verifyEnvironment(store, environment, join(archive, environment.id));
      if (problem !== undefined) process.exitCode = 1;
    }
  } finally {
    await store.close();
  }
}

/** @returns the problem, after printing it */
async function verifyEnvironment(store: Store, { id }: EnvironmentRow, directory: string): Promise<string | undefined> {
  const database = await store.read.audit.verifyChain(id);
  const archive = await verifyArchives(store, id, directory);
  const problem = database.intact
    ? archive.problem
    : `the audit log in the database is broken at seq ${database.brokenAt}`;
  const inFiles = archive.files > 0 ? `${archive.records} in ${archive.files} files of the archive, ` : '';
  const inDatabase = database.intact ? `${database.rows} in the database` : '';
  console.log(problem ? `${id}: ${problem}` : `${id}: the audit log is whole: ${inFiles}${inDatabase}`);
  return problem;
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

function readDirectory(args: string[]): string | undefined {
  try {
    return parseArgs({ args, options: { archive: { type: 'string' } } }).values.archive;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
