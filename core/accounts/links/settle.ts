import type { AuthRequestRow, Transaction } from '../../../db/store.ts';
import type { Cause } from '../../events/events.ts';
import { fieldSecrecy } from '../binding.ts';
import { revocationPattern } from '../revocation-order.ts';
import { activate } from './activate.ts';
import type { Grant } from './authorization-client.ts';
import { emitLink } from './emit-link.ts';
import { giveUp } from './end-request.ts';
import { contextOf, declaredBinding, type LinkContext } from './link-context.ts';
import { type LinkDeps, VERIFY_MS } from './link-deps.ts';
import { type Pending, sealPending, tryOpenPending } from './pending.ts';
import { mintToken, tokenDigest } from './tokens.ts';
import { isVerificationOff } from './verification.ts';
import { returnAddress } from './verify-url.ts';

/**
 * The step after a finished link. `verify`: the user is redirected to the application, which verifies the user, or to
 * the login provider, where the user logs in. `connected`: nothing is left to do. `late`: the link has ended in the
 * meantime.
 */
export type Settled =
  | { kind: 'verify'; url: string; authRequestId: string; request: AuthRequestRow }
  | { kind: 'connected'; request: AuthRequestRow }
  | { kind: 'late'; request: AuthRequestRow | undefined };

/**
 * Stores what a user granted or entered for a link. It cannot be used until the user has been verified (threats L1,
 * L2). If verification is off, it becomes the credentials of the account immediately.
 *
 * @throws StorageError
 */
export async function settle(deps: LinkDeps, link: LinkContext, grant: Grant, cause: Cause): Promise<Settled> {
  const authRequestId = mintToken(deps.random);
  return deps.store.write(async (tx) => {
    const { environment } = link;
    const request = (await tx.authRequests.get(environment.id, link.request.id)) as AuthRequestRow;
    // Everything is read again, because a user may spend minutes at the provider.
    const current = await contextOf(tx, deps, environment, request);
    const pending = pendingOf(link, grant);
    const origins = originsFor(pending);
    if (!current) {
      await abandon(tx, deps, request, pending, origins);
      return { kind: 'late', request };
    }
    if (request.userVerifyUrl !== null) {
      await putAside(tx, deps, current, pending, origins, authRequestId, cause);
      const address = new URL(request.userVerifyUrl, environment.baseUrl).href;
      const url = returnAddress(address, authRequestId, request.callerState);
      return { kind: 'verify', url, authRequestId, request };
    }
    if (!isVerificationOff(current.connection, environment)) {
      // Verification was off when the link was created, so the application does not expect to verify the user. It is
      // required now, so the link fails.
      await tx.authRequests.end(environment.id, request.id, 'FAILED', deps.now());
      await giveUp(tx, deps, request, current.account, pending, origins);
      return { kind: 'late', request };
    }
    await tx.authRequests.end(environment.id, request.id, 'CONSUMED', deps.now());
    await emitLink(tx, deps, 'link.completed', current, cause);
    await activate(tx, deps, { ...current, grant }, { origins, binding: pending.declared.binding }, cause);
    return { kind: 'connected', request };
  });
}

function pendingOf(link: LinkContext, grant: Grant): Pending {
  const { account, provider, pattern } = link;
  const apiConfig = { ...account.apiConfig, ...grant.apiConfig };
  const fields = fieldSecrecy(pattern, grant.details);
  const declared = declaredBinding(link, apiConfig, grant.details, fields);
  return {
    grant,
    provider: provider.identifier,
    pattern: revocationPattern(pattern),
    authorizationType: pattern.type,
    apiConfig,
    declared,
  };
}

function originsFor({ declared, grant }: Pending): string[] {
  return [...new Set([...declared.origins, ...grant.origins])].sort();
}

async function putAside(
  tx: Transaction,
  deps: LinkDeps,
  { environment, request, account }: LinkContext,
  pending: Pending,
  origins: string[],
  authRequestId: string,
  cause: Cause,
): Promise<void> {
  const at = deps.now();
  await tx.authRequests.finish(environment.id, request.id, {
    ...sealPending(deps.vault, { ...request, origins }, pending),
    origins,
    requestDigest: tokenDigest(deps.digester, 'auth request', authRequestId),
    expiresAt: at + VERIFY_MS,
  });
  const waiting = { status: 'PENDING_VERIFICATION' as const, reason: null, updatedAt: at };
  await tx.accounts.setStatus(environment.id, account.id, ['PENDING_AUTH', 'EXPIRED', 'DISCONNECTED'], waiting);
  await emitLink(tx, deps, 'link.completed', { request, account }, cause);
}

/**
 * Orders the revocation of what was granted in a flow that failed afterwards, unless an active account or an unverified
 * grant of the link may share it.
 */
export function discard(deps: LinkDeps, link: LinkContext, grant: Grant): Promise<void> {
  const pending = pendingOf(link, grant);
  return deps.store.write(async (tx) => {
    const request = await tx.authRequests.get(link.environment.id, link.request.id);
    if (request) await abandon(tx, deps, request, pending, originsFor(pending));
  });
}

/** Discards a grant that came too late: two browsers may finish the same link, and a link may end during consent. */
async function abandon(
  tx: Transaction,
  deps: LinkDeps,
  request: AuthRequestRow,
  pending: Pending,
  origins: string[],
): Promise<void> {
  const first = tryOpenPending(deps.vault, request);
  const { subject } = pending.grant;
  const isOther =
    first !== undefined && subject !== null && first.grant.subject !== null && first.grant.subject !== subject;
  // The first grant waits for its verification, and belongs to the same user or to an unknown user. At the provider
  // both may be one grant, so revoking this one could end the first.
  if (first && !isOther) return;
  const account = await tx.accounts.get(request.environmentId, request.accountId);
  await giveUp(tx, deps, request, account, pending, origins);
}
