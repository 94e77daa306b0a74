import type {
  AccountBinding,
  AccountRow,
  AuthRequestRow,
  EnvironmentRow,
  Repositories,
  Transaction,
} from '../../../db/store.ts';
import { findPattern, findProvider } from '../../connections/providers.ts';
import type { Cause, Events } from '../../events/events.ts';
import type { Digester } from '../../vault/digest.ts';
import { fieldSecrecy } from '../binding.ts';
import { type ActivateDeps, type Activation, activate } from './activate.ts';
import { type EndDeps, endRequest } from './end-request.ts';
import { type ContextDeps, declaredBinding, isSameDestination } from './link-context.ts';
import { openPending, type Pending } from './pending.ts';
import { applicationOrigin } from './return-address.ts';
import { tokenDigest } from './tokens.ts';

/** How many wrong identifiers a request tolerates. The next one ends it. */
const MISMATCHES_ALLOWED = 5;

const MISMATCHED = 'The link was finished by a different user. Authorize the account again.';
const SUPERSEDED = 'Another link of the account was finished later and has been verified.';
const MOVED = 'The provider has changed since the link was finished. Authorize the account again.';

export interface VerifyDeps extends Pick<ContextDeps, 'catalogue' | 'now'>, ActivateDeps, EndDeps {
  digester: Digester;
  events: Events;
  scrubStorage(): void;
}

export interface Verification {
  authRequestId: string;
  /** The identifier of the user who is logged in at the application or at the login provider. */
  identifier: string;
  /**
   * The organization and the user that the login provider names; undefined if the application verifies the user. An
   * application confirms only the identifier, because it knows for which of its users it created the link.
   */
  owner?: Pick<AccountRow, 'organizationId' | 'userId'>;
  /** Whether the account may now belong to a different user at the provider than before. */
  allowSubjectChange: boolean;
}

/**
 * `unknown`: the request cannot be verified. It was never created, was created in another environment, was already
 * verified, has expired or has ended (possibly by this call); callers cannot distinguish these (threat L18).
 * `mismatch`: another user finished the link. `subject_changed`: the account would belong to a different user at the
 * provider than before.
 */
export type Verified =
  | { kind: 'verified'; redirectUrl: string }
  | { kind: 'unknown' }
  | { kind: 'mismatch' }
  | { kind: 'subject_changed' };

/**
 * Verifies the user who finished a link: the identifier of the user who is logged in at the application, or at the
 * login provider, must be the one that the link was created for. Only then does the grant become the account's
 * credentials, once, in this transaction (threats L1, L6). If several links of one account were finished, the last one
 * counts: its verification ends those that were finished earlier.
 *
 * The transaction must be committed even if the verification is rejected, because rejections are counted.
 */
export async function verify(
  tx: Transaction,
  deps: VerifyDeps,
  environment: EnvironmentRow,
  { authRequestId, identifier, owner, allowSubjectChange }: Verification,
  cause: Cause,
): Promise<Verified> {
  const digest = tokenDigest(deps.digester, 'auth request', authRequestId);
  const request = await tx.authRequests.byRequest(environment.id, digest);
  if (request?.state !== 'PENDING_VERIFICATION' || request.expiresAt <= deps.now()) return { kind: 'unknown' };
  const isUser = isSame(deps.digester, identifier, request.identifier) && (await isOwnedBy(tx, request, owner));
  if (!isUser) return mismatched(tx, deps, request, cause);
  const activated = await activationOf(tx, deps, request);
  if (!activated) {
    await endRequest(tx, deps, request, 'FAILED', MOVED, cause);
    return { kind: 'unknown' };
  }
  const { activation, binding } = activated;
  const { account, connection, grant } = activation;
  const { providerSubject: before } = account;
  if (before !== null && before !== grant.subject && !allowSubjectChange) return { kind: 'subject_changed' };
  await tx.authRequests.end(environment.id, request.id, 'CONSUMED', deps.now());
  await activate(tx, deps, activation, { origins: request.origins, binding }, cause);
  // The link that was finished last counts, regardless of the order in which the application verifies them.
  for (const earlier of await tx.authRequests.finishedBefore(environment.id, request)) {
    await endRequest(tx, deps, earlier, 'FAILED', SUPERSEDED, cause);
  }
  tx.afterCommit(deps.scrubStorage);
  return { kind: 'verified', redirectUrl: connection.postUserVerifyRedirectUrl ?? connectedUrl(environment, request) };
}

/**
 * The final page, used if a connection has no redirect address. It has the language of the link, and leads back to its
 * application.
 */
export function connectedUrl(
  { baseUrl }: Pick<EnvironmentRow, 'baseUrl'>,
  request: Pick<AuthRequestRow, 'language' | 'userVerifyUrl'>,
): string {
  const url = new URL('/connect/connected', baseUrl);
  const origin = applicationOrigin(request);
  if (origin !== undefined) url.searchParams.set('application', origin);
  if (request.language !== null) url.searchParams.set('language', request.language);
  return url.href;
}

/** Compares the exact bytes, in a time that does not depend on where they differ (threat L17). */
function isSame(digester: Digester, a: string, b: string): boolean {
  return digester.equal(digester.digest('identifier', a), digester.digest('identifier', b));
}

async function isOwnedBy(
  tx: Repositories,
  { environmentId, accountId }: AuthRequestRow,
  owner: Verification['owner'],
): Promise<boolean> {
  if (!owner) return true;
  const account = await tx.accounts.get(environmentId, accountId);
  return account?.organizationId === owner.organizationId && account.userId === owner.userId;
}

async function mismatched(tx: Transaction, deps: VerifyDeps, request: AuthRequestRow, cause: Cause): Promise<Verified> {
  const { environmentId, id, accountId, mismatches } = request;
  await deps.events.emit(tx, cause, {
    type: 'link.verification_failed',
    subject: accountId,
    details: { link_id: id, mismatches: mismatches + 1 },
    data: (show) => show.linkAccount(accountId),
  });
  if (mismatches >= MISMATCHES_ALLOWED) {
    await endRequest(tx, deps, request, 'FAILED', MISMATCHED, cause);
    tx.afterCommit(deps.scrubStorage);
    return { kind: 'unknown' };
  }
  await tx.authRequests.countMismatch(environmentId, id);
  return { kind: 'mismatch' };
}

/**
 * Returns what the verification will store. Returns undefined if the provider was deleted, or if credentials would be
 * sent elsewhere or in another way than when the link was finished. A value that was entered as a secret stays secret.
 */
async function activationOf(
  tx: Repositories,
  deps: VerifyDeps,
  request: AuthRequestRow,
): Promise<{ activation: Activation; binding: AccountBinding } | undefined> {
  const { environmentId, accountId, connectionId } = request;
  const account = await tx.accounts.get(environmentId, accountId);
  const connection = await tx.connections.get(environmentId, connectionId);
  const provider = connection && (await findProvider(tx, deps.catalogue, environmentId, connection.providerKey));
  const pattern = account && provider && findPattern(provider, account.authorizationType);
  if (!account || !connection || !provider || !pattern) return undefined;
  const { grant, declared }: Pending = openPending(deps.vault, request);
  const apiConfig = { ...account.apiConfig, ...grant.apiConfig };
  const fields = fieldSecrecy(pattern, grant.details, declared.binding.fields);
  const now = declaredBinding({ provider, pattern }, apiConfig, grant.details, fields);
  if (!isSameDestination(now, declared)) return undefined;
  return { activation: { account, connection, request, grant }, binding: now.binding };
}
