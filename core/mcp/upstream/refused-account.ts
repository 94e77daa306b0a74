import type { AccountRow, Store } from '../../../db/store.ts';
import { expireAccount } from '../../accounts/refresh-settle.ts';
import { needsCredentials } from '../../authorization/roles.ts';
import type { Cause, Events } from '../../events/events.ts';

export interface RefusedTools {
  store: Pick<Store, 'write'>;
  events: Events;
  now(): number;
}

const REFUSED = 'The MCP server rejected the credentials. Authorize the account again.';

/**
 * Takes an account out of use whose credential an MCP server has refused (401), after a refresh where one was possible: the protocol
 * then wants a new authorization. An account that has other credentials by now, or none at all, stays as it is.
 */
export async function endRefusedAccount(
  { store, events, now }: RefusedTools,
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
