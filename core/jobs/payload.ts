import type { EnvironmentId, JobRow } from '../../db/store.ts';
import type { DataKeyContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';

/** A payload never changes, so there is one generation of it. */
const GENERATION = 1;

/** Returns the context that the data key of the payload of a job is bound to. */
export function jobContext(environmentId: string, id: string): DataKeyContext {
  return { table: 'jobs', environmentId, recordId: id, generation: GENERATION };
}

/** Encrypts a payload, which may contain secrets. */
export function sealPayload(vault: Vault, environmentId: EnvironmentId, id: string, payload: object) {
  const bytes = Buffer.from(JSON.stringify(payload));
  const { sealed, ...key } = vault.sealBytes(jobContext(environmentId, id), bytes);
  bytes.fill(0);
  return { ...key, payloadSealed: sealed };
}

/** @throws VaultError if the payload or its context was altered, or its key is missing; TypeError if it was removed */
export function openPayload(vault: Vault, { id, environmentId, wrappedDataKey, payloadSealed }: JobRow): unknown {
  if (!wrappedDataKey || !payloadSealed) throw new TypeError('The payload of the job was removed');
  const bytes = vault.openBytes(jobContext(environmentId, id), { wrappedDataKey, sealed: payloadSealed });
  const payload = JSON.parse(bytes.toString('utf8'));
  bytes.fill(0);
  return payload;
}
