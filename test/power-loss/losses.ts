import { existsSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { openStore } from '../../db/open-store.ts';
import type { Store } from '../../db/store.ts';
import { countAcknowledged, possibleVersions } from './history.ts';
import type { Recording } from './recording.ts';

/**
 * Opens a data directory as the server does, and compares it with what was acknowledged.
 *
 * @param at milliseconds UTC; everything that was acknowledged before this time must exist
 * @returns the differences; empty if nothing was lost
 */
export async function lossesOf(dataDir: string, { history, keys }: Recording, at: number): Promise<string[]> {
  const database = `${dataDir}/valetkey.db`;
  const acknowledged = countAcknowledged(history, at);
  if (acknowledged > 0) {
    if (!existsSync(database)) return ['the database'];
    if (!existsSync(`${dataDir}/keys`) || !readFileSync(`${dataDir}/keys`).equals(keys)) return ['the keys'];
  }
  let store: Store;
  try {
    store = await openStore({ location: database, now: Date.now });
  } catch (error) {
    return [`the database is refused: ${(error as Error).message}`];
  }
  try {
    const [environment] = await store.read.environments.list();
    if (!environment) return acknowledged > 0 ? ['the environment'] : [];
    const read = { store, environmentId: environment.id };
    const audit = await store.read.audit.verifyChain(environment.id);
    return [
      ...(await lostAccounts(read, { history, at })),
      ...(await lostGrants(read, { history, at })),
      ...(await lostCalls(read, { history, at })),
      ...(audit.intact ? [] : [`the audit chain is broken at ${audit.brokenAt}`]),
      ...faultsOf(database),
    ];
  } finally {
    await store.close();
  }
}

interface Read {
  store: Store;
  environmentId: Parameters<Store['read']['accounts']['get']>[0];
}
type Moment = Pick<Recording, 'history'> & { at: number };

async function lostAccounts({ store, environmentId }: Read, { history, at }: Moment): Promise<string[]> {
  const lost: string[] = [];
  for (const account of history.accounts) {
    const row = await store.read.accounts.get(environmentId, account.id);
    const version = row ? (row.apiConfig['version'] as number) : null;
    const possible = possibleVersions(account, at);
    if (!possible.includes(version)) lost.push(`${account.id} is ${version} and not ${possible}`);
  }
  return lost;
}

/** Rotated tokens may be newer than the acknowledged ones, but never older. */
async function lostGrants({ store, environmentId }: Read, { history, at }: Moment): Promise<string[]> {
  const lost: string[] = [];
  for (const grant of history.grants) {
    const [known] = possibleVersions(grant, at);
    if (known === null || known === undefined) continue;
    const row = await store.read.accounts.get(environmentId, grant.id);
    const generation = row?.credentialGeneration ?? 0;
    if (generation < known) lost.push(`${grant.id} has credentials ${generation} and not ${known}`);
  }
  return lost;
}

async function lostCalls({ store, environmentId }: Read, { history, at }: Moment): Promise<string[]> {
  const lost: string[] = [];
  for (const { executionId, ackedAt } of history.calls) {
    if (ackedAt >= at) continue;
    const row = await store.read.executions.get(environmentId, executionId);
    if (row?.status !== 'SUCCEEDED') lost.push(`${executionId} is ${row?.status}`);
  }
  return lost;
}

function faultsOf(database: string): string[] {
  const client = new Database(database, { readonly: true });
  try {
    const integrity = client.pragma('integrity_check', { simple: true });
    const references = client.pragma('foreign_key_check') as unknown[];
    return [
      ...(integrity === 'ok' ? [] : [`the database is damaged: ${integrity}`]),
      ...(references.length === 0 ? [] : ['a row refers to a row that is missing']),
    ];
  } finally {
    client.close();
  }
}
