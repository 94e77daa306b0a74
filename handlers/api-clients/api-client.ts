import { requireFound } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';

const SHOWN_CHARACTERS = 8;

/**
 * @param now milliseconds UTC; secrets that have expired by then are omitted
 * @throws ApiError NOT_FOUND
 */
export async function requireApiClient(read: ReadRepositories, environmentId: EnvironmentId, id: string, now: number) {
  return requireFound(await read.apiClients.get(environmentId, id, now), 'The API client');
}

/** Returns the first characters of a secret, by which users can distinguish two secrets. */
export function shownPrefix(secret: Secret): string {
  return secret.reveal().slice(0, SHOWN_CHARACTERS);
}
