import type { AccountRow, Store } from '../../../db/store.ts';
import { expireAccount } from '../../accounts/expire-account.ts';
import { needsCredentials } from '../../authorization/roles.ts';
import type { Cause, Events } from '../../events/events.ts';

export interface RefusedDeps {
  store: Pick<Store, 'write'>;
  events: Events;
  now(): number;
}

const REFUSED = 'The MCP server rejected the credentials. Authorize the account again.';

/**
 * Marks an account as expired after an MCP server rejected its credential (401) and a refresh did not help: the
 * protocol then requires a new authorization. The account is not changed if it needs no credentials, is no longer
 * active, or if its credentials were replaced in the meantime.
 */
export async function endRefusedAccount(
  { store, events, now }: RefusedDeps,
  { environmentId, id, credentialGeneration, authorizationType }: AccountRow,
  cause: Cause,
): Promise<void> {
  if (!needsCredentials(authorizationType)) return;
  await store.write(async (tx) => {
    const current = await tx.accounts.get(environmentId, id);
    if (current?.status !== 'ACTIVE' || current.credentialGeneration !== credentialGeneration) return;
    await expireAccount(tx, events, current, REFUSED, now(), cause);
  });
}
