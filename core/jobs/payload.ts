import type { EnvironmentId, JobRow } from '../../db/store.ts';
import { Secret } from '../secret.ts';
import type { ValueContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';

/** Returns the context that the payload of a job is bound to. */
export function jobPlace(environmentId: string, id: string): ValueContext {
  return { table: 'jobs', environmentId, recordId: id, field: 'payload' };
}

/** Encrypts a payload, which may contain secrets. */
export function sealPayload(vault: Vault, environmentId: EnvironmentId, id: string, payload: object) {
  const { kekId, blob } = vault.sealValue(jobPlace(environmentId, id), new Secret(JSON.stringify(payload)));
  return { kekId, payloadSealed: blob };
}

/** @throws VaultError if the payload or its context was altered, or its key is missing */
export function openPayload(vault: Vault, { id, environmentId, payloadSealed }: JobRow): unknown {
  if (payloadSealed === null) throw new TypeError('The payload of the job was removed');
  return JSON.parse(vault.openValue(jobPlace(environmentId, id), payloadSealed).reveal());
}
