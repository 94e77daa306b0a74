import type { AccountRow, ConnectionRow, RefreshEnd, Repositories, Transaction } from '../../db/store.ts';
import type { Cause, Events } from '../events/events.ts';
import type { Vault } from '../vault/vault.ts';
import type { Details } from './authorization-details.ts';
import { fieldSecrecy } from './binding.ts';
import { combineDetails, openGivenCredentials, sealCredentials } from './credentials.ts';
import { formOf, publicPart } from './details.ts';
import { expireAccount } from './expire-account.ts';
import type { Obtained, StoredParts } from './obtaining/request.ts';
import type { FailureReason } from './refresh-failure.ts';
import type { Lease } from './refresh-lease.ts';
import { basisOf, type RefreshPlan } from './refresh-plan.ts';
import { countRefresh } from './refresh-statistics.ts';

export interface SettleDeps {
  vault: Vault;
  events: Events;
}

/**
 * How a result was handled. `lost`: another process took over the lease, and handles the account. `replaced`: the
 * account is out of use or has other credentials. `gone`: it was deleted.
 */
export type Settled =
  | { kind: 'stored' | 'lost' | 'replaced'; account: AccountRow }
  | { kind: 'gone'; account: undefined };

/** If a provider rejects credentials that were just refreshed, they are not refreshed again for this long. */
const QUIET_MS = 10_000;

/**
 * Stores the tokens of a refresh under a new generation, if the account still has the credentials that they were
 * obtained with (threats R3, R4). Concurrent changes of other fields are kept; if the credentials were changed, the
 * tokens are not stored.
 *
 * @param at milliseconds UTC
 */
export async function storeTokens(
  tx: Repositories,
  { vault }: SettleDeps,
  plan: RefreshPlan,
  lease: Lease,
  obtained: Obtained,
  at: number,
): Promise<Settled> {
  const found = await stillOurs(tx, vault, plan, lease);
  if (found.kind !== 'stored') return found;
  const { account } = found;
  const { environmentId, id, origins } = account;
  const binding = plan.namingOrigin === undefined ? account.binding : { ...account.binding, issued: plan.origin };
  const parts = obtained.store(openGivenCredentials(vault, account, account));
  const shown = shownOf(parts);
  const credentialGeneration = account.credentialGeneration + 1;
  await tx.accounts.update(environmentId, id, account.version, {
    ...sealCredentials(
      vault,
      { environmentId, id, credentialGeneration, origins, binding },
      parts.given,
      parts.temporary,
    ),
    binding,
    publicDetails: publicPart(shown, fieldSecrecy(plan.pattern, shown, binding.fields)),
    tokenExpiresAt: obtained.expiresAt,
    credentialGeneration,
    updatedAt: at,
  });
  await end(tx, plan, lease, { ...SUCCESS, generation: credentialGeneration, retryAt: at + QUIET_MS });
  await countRefresh(tx, account, at, 'SUCCEEDED');
  return { kind: 'stored', account: (await tx.accounts.get(environmentId, id)) as AccountRow };
}

/**
 * Sets an account to EXPIRED, because the provider no longer accepts its refresh token, subject or other credentials,
 * or because its authorization server was replaced. If the account has other credentials by now, it stays unchanged.
 */
export async function storeRefusal(
  tx: Transaction,
  { vault, events }: SettleDeps,
  plan: RefreshPlan,
  lease: Lease,
  message: string,
  at: number,
  cause: Cause,
): Promise<Settled> {
  const found = await stillOurs(tx, vault, plan, lease);
  if (found.kind !== 'stored') return found;
  const again = plan.spends ? AGAIN : UPDATE;
  const reason = lease.interrupted && plan.spends ? INTERRUPTED : `${message} ${again}`;
  await end(tx, plan, lease, { ...SUCCESS, generation: plan.account.credentialGeneration, retryAt: null });
  await countRefresh(tx, found.account, at, 'EXPIRED');
  const account = (await expireAccount(tx, events, found.account, reason, at, cause)) as AccountRow;
  return { kind: 'stored', account };
}

/**
 * Records a refresh that failed and left the account unchanged, and releases its lease.
 *
 * @param failure its message is a sentence for users
 * @param at milliseconds UTC
 */
export async function storeFailure(
  tx: Transaction,
  { events }: SettleDeps,
  plan: RefreshPlan,
  lease: Lease,
  failure: { reason: FailureReason; message: string; mayBeSpent: boolean; retryAt: number },
  at: number,
  cause: Cause,
): Promise<void> {
  const { environmentId, id } = plan.account;
  // Only the first of consecutive failures emits an event; otherwise an outage would emit one per minute and account.
  if (lease.failures === 0 && (await tx.accounts.get(environmentId, id))) {
    await events.emit(tx, cause, {
      type: 'connected_account.refresh_failed',
      subject: id,
      details: { reason: failure.message },
      data: async (show) => ({ connected_account: await show.account(id) }),
    });
  }
  const released = await end(tx, plan, lease, {
    state: failure.mayBeSpent || (lease.interrupted && plan.spends) ? 'OPEN' : 'SETTLED',
    generation: plan.account.credentialGeneration,
    failures: lease.failures + 1,
    lastFailure: failure.reason,
    retryAt: failure.retryAt,
    versions: plan.versions,
  });
  if (released) await countRefresh(tx, plan.account, at, 'FAILED', failure.reason);
}

const AGAIN = 'Authorize the account again.';
const UPDATE = 'Update the account.';
const INTERRUPTED =
  'A refresh of the token was interrupted before its result could be stored, and the provider no longer accepts the refresh ' +
  `token that is left. ${AGAIN}`;
export const NO_REFRESH_TOKEN = `The token has expired, and there is no refresh token. ${AGAIN}`;

const SUCCESS = { state: 'SETTLED', failures: 0, lastFailure: null, versions: null } as const;

/**
 * Returns how a result may be handled. `stored`: the account still has the credentials that the result belongs to. A
 * lease whose result is obsolete is released immediately.
 */
async function stillOurs(tx: Repositories, vault: Vault, plan: RefreshPlan, lease: Lease): Promise<Settled> {
  const { environmentId, id } = plan.account;
  const account = await tx.accounts.get(environmentId, id);
  if (!account) return { kind: 'gone', account: undefined };
  const row = await tx.refreshLeases.get(environmentId, id);
  if (row?.owner !== lease.owner || row.fencing !== lease.fencing) return { kind: 'lost', account };
  const connection = await tx.connections.get(environmentId, account.connectionId);
  if (account.status === 'ACTIVE' && connection && holdsBasis(vault, plan, account, connection)) {
    return { kind: 'stored', account };
  }
  await end(tx, plan, lease, { ...SUCCESS, generation: plan.account.credentialGeneration, retryAt: null });
  return { kind: 'replaced', account };
}

/**
 * Whether the account still has the credentials that the refresh used. If the refresh used a refresh token, a change
 * that keeps this token and the origins is ignored, for example a change of the scopes.
 */
function holdsBasis(
  vault: Vault,
  { account: before, basis, spends }: RefreshPlan,
  account: AccountRow,
  connection: ConnectionRow,
): boolean {
  if (spends && account.credentialGeneration === before.credentialGeneration) return true;
  if (account.origins.join() !== before.origins.join()) return false;
  return basisOf(account, openGivenCredentials(vault, account, account), connection)?.reveal() === basis.reveal();
}

/**
 * Returns the details whose public part is stored. For entered credentials these are the entered fields; a token does
 * not replace them.
 */
function shownOf({ given, temporary }: StoredParts): Details {
  return formOf(temporary) === null || formOf(given) === 'static_auth' ? given : combineDetails(given, temporary);
}

/** Releases the lease. @returns false if another process holds the lease now, or the account was deleted */
function end(tx: Repositories, { account }: RefreshPlan, lease: Lease, how: RefreshEnd): Promise<boolean> {
  const { owner, fencing } = lease;
  return tx.refreshLeases.release(account.environmentId, account.id, { owner, fencing }, how);
}
