import type { AccountRow, AuthRequestRow, Transaction } from '../../../db/store.ts';
import type { Cause, Events } from '../../events/events.ts';
import type { Representations } from '../../events/renderer.ts';
import { orderRevocation, type RevocationDeps } from '../revocation-order.ts';
import { mayBeShared } from '../shared-grant.ts';
import { type Pending, tryOpenPending } from './pending.ts';

export interface EndDeps extends RevocationDeps {
  events: Events;
}

/**
 * What was done with tokens that are no longer needed. `kept_alive`: they were only erased on this server, because an
 * active account may share the grant. `unreadable`: they could not be decrypted.
 */
export type DiscardedGrant = 'revocation_ordered' | 'kept_alive' | 'nothing_to_revoke' | 'unreadable';

/**
 * Ends the request of a link that was not verified. If a user had finished the link, its grant is erased on this server
 * and revoked at the provider, unless an active account may share it. The account then waits for a new authorization,
 * unless another of its requests still waits for verification (threats L12, L20).
 *
 * @param reason a sentence for users, shown on the account
 * @returns false if the request has already ended
 */
export async function endRequest(
  tx: Transaction,
  deps: EndDeps,
  request: AuthRequestRow,
  as: 'EXPIRED' | 'FAILED',
  reason: string,
  cause: Cause,
): Promise<boolean> {
  const { environmentId, id, accountId } = request;
  const at = deps.now();
  const pending = tryOpenPending(deps.vault, request);
  if (!(await tx.authRequests.end(environmentId, id, as, at))) return false;
  const emit = (tokens?: DiscardedGrant) => emitEnd(tx, deps.events, request, as, { reason, tokens }, cause);
  if (request.state !== 'PENDING_VERIFICATION') {
    await emit();
    return true;
  }
  const account = await tx.accounts.get(environmentId, accountId);
  const givenUp = pending ? await giveUp(tx, deps, request, account, pending, request.origins) : 'unreadable';
  if ((await tx.authRequests.countPending(environmentId, accountId)) === 0) {
    const waiting = { status: 'PENDING_AUTH' as const, reason, updatedAt: at };
    await tx.accounts.setStatus(environmentId, accountId, ['PENDING_VERIFICATION'], waiting);
  }
  await emit(givenUp);
  return true;
}

function emitEnd(
  tx: Transaction,
  events: Events,
  { id, accountId }: AuthRequestRow,
  as: 'EXPIRED' | 'FAILED',
  { reason, tokens }: { reason: string; tokens: DiscardedGrant | undefined },
  cause: Cause,
): Promise<void> {
  const details = { link_id: id };
  const common = { subject: accountId, auditOnly: { ...(tokens && { tokens }) } };
  const data = (show: Representations) => show.linkAccount(accountId);
  return as === 'EXPIRED'
    ? events.emit(tx, cause, { ...common, type: 'link.expired', details, data })
    : events.emit(tx, cause, { ...common, type: 'link.failed', details: { ...details, reason }, data });
}

/**
 * Orders the revocation of a grant that is not needed any more, unless it has no tokens or an active account may share
 * it. The caller removes a stored grant.
 */
export async function giveUp(
  tx: Transaction,
  deps: RevocationDeps,
  { environmentId, accountId, connectionId }: AuthRequestRow,
  account: AccountRow | undefined,
  { grant, provider, pattern, authorizationType, apiConfig }: Pending,
  origins: string[],
): Promise<DiscardedGrant> {
  if (!grant.details.oauth_token) return 'nothing_to_revoke';
  if (await mayBeShared(tx, { environmentId, connectionId }, account, grant.subject)) return 'kept_alive';
  const whose = { environmentId, id: accountId, connectionId, provider, providerSubject: grant.subject };
  await orderRevocation(tx, deps, { ...whose, pattern, authorizationType, apiConfig, origins }, grant.details);
  return 'revocation_ordered';
}
