import type { AccountRow, Transaction } from '../../../db/store.ts';
import type { Cause } from '../../events/events.ts';
import type { Representations } from '../../events/renderer.ts';
import type { LinkContext } from './link-context.ts';
import type { LinkDeps } from './link-deps.ts';
import type { LinkError } from './return-address.ts';

/**
 * Records that an attempt of a user failed. The link stays open, so the user can try again, or go back to the
 * application, which then receives the reason.
 *
 * @param failure `refused`: the user or the provider declined. `failed`: the provider violated the protocol or could
 * not be reached
 */
export function attemptFailed(
  { store, events, now }: Pick<LinkDeps, 'store' | 'events' | 'now'>,
  { environment, request, account }: Pick<LinkContext, 'environment' | 'request' | 'account'>,
  { kind, message }: { kind: 'refused' | 'failed'; message: string },
  cause: Cause,
): Promise<void> {
  const error: LinkError = kind === 'refused' ? 'access_denied' : 'server_error';
  const common = { subject: account.id, details: { link_id: request.id, reason: message } };
  const data = (show: Representations) => show.linkAccount(account.id);
  return store.write(async (tx) => {
    await tx.authRequests.setError(environment.id, request.id, error);
    if (kind === 'failed') await forgetRequiredScopes(tx, account, now());
    await (kind === 'refused'
      ? events.emit(tx, cause, { ...common, type: 'link.denied', data })
      : events.emit(tx, cause, { ...common, type: 'link.attempt_failed', data }));
  });
}

/**
 * Clears the scopes that an MCP server required, so that the next attempt does not request them: the authorization
 * server may have rejected the attempt because it does not know one of them.
 */
async function forgetRequiredScopes(
  tx: Transaction,
  { environmentId, id }: AccountRow,
  updatedAt: number,
): Promise<void> {
  const account = await tx.accounts.get(environmentId, id);
  if (!account?.requiredScopes) return;
  await tx.accounts.update(environmentId, id, account.version, { requiredScopes: null, updatedAt });
}
