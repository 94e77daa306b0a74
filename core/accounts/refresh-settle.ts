import type { AccountRow, ConnectionRow, RefreshEnd, Repositories, Transaction } from '../../db/store.ts';
import type { Cause, Events } from '../events/events.ts';
import type { Vault } from '../vault/vault.ts';
import { fieldSecrecy } from './binding.ts';
import { combineDetails, openGiven, sealCredentials } from './credentials.ts';
import { type Details, formOf, publicPart } from './details.ts';
import type { Obtained, StoredParts } from './obtaining/request.ts';
import type { FailureReason } from './refresh-failure.ts';
import type { Lease } from './refresh-lease.ts';
import { basisOf, type RefreshPlan } from './refresh-plan.ts';

export interface SettleTools {
  vault: Vault;
  events: Events;
}

/**
 * What became of a result. `lost`: the lease was taken over, so it is the new holder's to settle. `replaced`: the account is
 * out of use or has other credentials by now. `gone`: it was deleted.
 */
export type Settled =
  | { kind: 'stored' | 'lost' | 'replaced'; account: AccountRow }
  | { kind: 'gone'; account: undefined };

/** How long credentials that a refresh obtained are not refreshed again because a provider refuses them. */
const QUIET_MS = 10_000;

/**
 * Stores the tokens of a refresh under a new generation, provided that the account still has what they were obtained with
 * (threats R3, R4): changes of other fields meanwhile do no harm, other credentials win.
 *
 * @param at milliseconds UTC
 */
export async function storeTokens(
  tx: Repositories,
  { vault }: SettleTools,
  plan: RefreshPlan,
  lease: Lease,
  obtained: Obtained,
  at: number,
): Promise<Settled> {
  const found = await stillOurs(tx, vault, plan, lease);
  if (found.kind !== 'stored') return found;
  const { account } = found;
  const { environmentId, id, origins } = account;
  const binding = plan.vouching === undefined ? account.binding : { ...account.binding, issued: plan.origin };
  const parts = obtained.store(openGiven(vault, account, account));
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
  return { kind: 'stored', account: (await tx.accounts.get(environmentId, id)) as AccountRow };
}

/** Ends an account whose refresh token or subject the provider no longer accepts, provided that it still is the account's. */
export async function storeRefusal(
  tx: Transaction,
  { vault, events }: SettleTools,
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
  const account = (await expireAccount(tx, events, found.account, reason, at, cause)) as AccountRow;
  return { kind: 'stored', account };
}

/**
 * Notes that a refresh changed nothing.
 *
 * @param failure its message is a sentence for users
 */
export async function storeFailure(
  tx: Transaction,
  { events }: SettleTools,
  plan: RefreshPlan,
  lease: Lease,
  failure: { reason: FailureReason; message: string; mayBeSpent: boolean; retryAt: number },
  cause: Cause,
): Promise<void> {
  const { environmentId, id } = plan.account;
  // Only the first failure in a row is an event: a provider that is down would cause one a minute for each account.
  if (lease.failures === 0 && (await tx.accounts.get(environmentId, id))) {
    await events.emit(tx, cause, {
      type: 'connected_account.refresh_failed',
      subject: id,
      details: { reason: failure.message },
      data: async (show) => ({ connected_account: await show.account(id) }),
    });
  }
  await end(tx, plan, lease, {
    state: failure.mayBeSpent || (lease.interrupted && plan.spends) ? 'OPEN' : 'SETTLED',
    generation: plan.account.credentialGeneration,
    failures: lease.failures + 1,
    lastFailure: failure.reason,
    retryAt: failure.retryAt,
    versions: plan.versions,
  });
}

const AGAIN = 'Authorize the account again.';
const UPDATE = 'Update the account.';
const INTERRUPTED =
  'A refresh of the token was interrupted before its result could be stored, and the provider no longer accepts the refresh ' +
  `token that is left. ${AGAIN}`;
export const NO_REFRESH_TOKEN = `The token has expired, and there is no refresh token. ${AGAIN}`;

/**
 * Takes an account out of use until it is authorized again; the event goes with it.
 *
 * @returns the account as it is now: another version than the one given is left as it is
 */
export async function expireAccount(
  tx: Transaction,
  events: Events,
  { environmentId, id, version }: AccountRow,
  reason: string,
  at: number,
  cause: Cause,
): Promise<AccountRow | undefined> {
  const expired = { status: 'EXPIRED', statusReason: reason, updatedAt: at } as const;
  const changed = await tx.accounts.update(environmentId, id, version, expired);
  if (changed) {
    await events.emit(tx, cause, {
      type: 'connected_account.expired',
      subject: id,
      details: { reason },
      data: async (show) => ({ connected_account: await show.account(id) }),
    });
  }
  return tx.accounts.get(environmentId, id);
}

const SUCCESS = { state: 'SETTLED', failures: 0, lastFailure: null, versions: null } as const;

/** `stored` means that no refresh blocks the account. A lease whose result is obsolete is released immediately. */
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

/** A change that left the refresh token in place, of its scopes for example, is none of the credentials that matter here. */
function holdsBasis(
  vault: Vault,
  { account: before, basis, spends }: RefreshPlan,
  account: AccountRow,
  connection: ConnectionRow,
): boolean {
  if (spends && account.credentialGeneration === before.credentialGeneration) return true;
  if (account.origins.join() !== before.origins.join()) return false;
  return basisOf(account, openGiven(vault, account, account), connection)?.reveal() === basis.reveal();
}

/** Of typed credentials it stays known what was typed; a token says nothing about them. */
function shownOf({ given, temporary }: StoredParts): Details {
  return formOf(temporary) === null || formOf(given) === 'static_auth' ? given : combineDetails(given, temporary);
}

async function end(tx: Repositories, { account }: RefreshPlan, lease: Lease, how: RefreshEnd): Promise<void> {
  const { owner, fencing } = lease;
  await tx.refreshLeases.release(account.environmentId, account.id, { owner, fencing }, how);
}
