import type { DataKeyTable, Repositories, Store, WaitingKeyRow } from '../../db/store.ts';
import { pendingGrantContext } from '../accounts/links/pending-context.ts';
import { clientContext } from '../connections/client-secret.ts';
import { contentContext } from '../contents/content-context.ts';
import { jobContext } from '../jobs/payload.ts';
import { loginProviderContext } from '../mcp-login/login-provider.ts';
import type { KeyCheckStore } from '../vault/key-check.ts';
import type { Resealed, RotationStore, SealedItem } from '../vault/rotate.ts';
import { deploymentSecretContext } from './deployment.ts';

type Reads = Pick<Repositories, 'deploymentSecrets' | 'keyRotation'> | Store['read'];

/**
 * Returns the functions that only read key checks, for a database that is opened read-only. A key check is a stored
 * value that identifies a key-encryption key.
 */
export function createKeyCheckReads(read: Reads): Omit<KeyCheckStore, 'addKeyCheck'> {
  return {
    async listKeyChecks() {
      const rows = await read.deploymentSecrets.keyChecks();
      return rows.map(({ kekId, checkValue, createdAt }) => ({ kekId, check: checkValue, createdAt }));
    },
    countUnder: (kekId) => countUnder(read, kekId),
  };
}

/** Gives the rotation of key-encryption keys access to the encrypted rows of all tables. */
export function createRotationStore(store: Store): RotationStore & KeyCheckStore {
  return {
    ...createKeyCheckReads(store.read),
    async addKeyCheck({ kekId, check, createdAt }) {
      await store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent({ kekId, checkValue: check, createdAt }));
    },
    listUnder: (kekId, cursor, limit) => listUnder(store.read, kekId, cursor, limit),
    replaceSealed: (changes) =>
      store.write(async (tx) => {
        let replaced = 0;
        for (const change of changes) replaced += Number(await replace(tx, change));
        return replaced;
      }),
    forgetKeyCheck: (kekId) =>
      store.write(async (tx) => {
        const left = await countUnder(tx, kekId);
        if (left === 0) await tx.deploymentSecrets.deleteKeyCheck(kekId);
        return left;
      }),
  };
}

async function countUnder(read: Reads, kekId: string): Promise<number> {
  const secrets = await deploymentSecretsUnder(read, kekId);
  return (await read.keyRotation.countByKek(kekId)) + secrets.length;
}

/**
 * Lists encrypted values: first all that are not in accounts, in one batch, then those of the accounts in batches. The
 * cursor is the `seq` of the last account; '0' before the first one, and undefined for the first batch.
 */
async function listUnder(read: Reads, kekId: string, cursor: string | undefined, limit: number) {
  if (cursor === undefined) {
    const secrets = await deploymentSecretsUnder(read, kekId);
    const waiting = await read.keyRotation.listWaiting(kekId);
    return { items: [...secrets, ...waiting.map(waitingItem)], next: '0' };
  }
  const rows = await read.keyRotation.listByKek(kekId, Number(cursor), limit);
  const items = rows.map((row): SealedItem => {
    const place = { environmentId: row.environmentId, recordId: row.id, generation: row.credentialGeneration };
    return { kind: 'data-key', context: { table: 'accounts', ...place }, blob: row.wrappedDataKey };
  });
  return { items, next: rows.length < limit ? undefined : String(rows.at(-1)?.seq) };
}

async function deploymentSecretsUnder(read: Reads, kekId: string): Promise<SealedItem[]> {
  const rows = (await read.deploymentSecrets.list()).filter((row) => row.kekId === kekId);
  return rows.map((row) => ({ kind: 'value', context: deploymentSecretContext(row.name), blob: row.sealed }));
}

const PLACES = {
  auth_requests: pendingGrantContext,
  jobs: jobContext,
  login_providers: loginProviderContext,
  stored_contents: contentContext,
};

function waitingItem({ table, id, environmentId, generation, wrappedDataKey }: WaitingKeyRow): SealedItem {
  const context =
    table === 'connections' ? clientContext(environmentId, id, generation ?? 0) : PLACES[table](environmentId, id);
  return { kind: 'data-key', context, blob: wrappedDataKey };
}

/**
 * Replaces a value only if it is still the one that was read, because a request may have written it in the meantime.
 */
function replace(tx: Repositories, { item, kekId, blob }: Resealed): Promise<boolean> {
  const { table, recordId: id } = item.context;
  if (item.kind === 'data-key') {
    return tx.keyRotation.setWrappedKey(table as DataKeyTable, id, item.blob, { wrappedDataKey: blob, kekId });
  }
  return tx.deploymentSecrets.replace(id, item.blob, { kekId, sealed: blob });
}
