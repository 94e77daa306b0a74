import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EnvironmentRow, Store } from '../db/store.ts';
import { verifyArchive } from '../db/verify-archive.ts';
import { auditDirectory } from '../http/config.ts';
import { openStorage } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

/** `valetkey verify-audit`: exits with 1 when the audit log of an environment, or its archive, is not one whole chain. */
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

/** @returns what is wrong, after it was printed */
async function verifyEnvironment(store: Store, { id }: EnvironmentRow, directory: string): Promise<string | undefined> {
  const chain = await store.read.audit.verifyChain(id);
  const removed = await store.read.audit.removedEnd(id);
  const archived = removed && (await verifyArchive(directory, id, removed));
  const problem = !chain.intact
    ? `the audit log in the database is broken at seq ${chain.brokenAt}`
    : archived?.intact === false
      ? archived.problem
      : undefined;
  const inFiles = archived?.intact ? `${archived.records} in ${archived.files} files of the archive, ` : '';
  const inDatabase = chain.intact ? `${chain.rows} in the database` : '';
  console.log(problem ? `${id}: ${problem}` : `${id}: the audit log is whole: ${inFiles}${inDatabase}`);
  return problem;
}

function readDirectory(args: string[]): string | undefined {
  try {
    return parseArgs({ args, options: { archive: { type: 'string' } } }).values.archive;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
