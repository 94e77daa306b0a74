import type { AccountRow, ConnectionRow, EnvironmentRow, Transaction } from '../../../db/store.ts';
import { LIFETIME } from '../../budgets.ts';
import { findProvider, requirePattern } from '../../connections/providers.ts';
import { ensureConnection } from '../../connections/resolve.ts';
import { connectionDisabled, connectionDraft, providerDeleted } from '../../connections/unusable.ts';
import { ApiError } from '../../errors.ts';
import type { Cause, Events } from '../../events/events.ts';
import { rfc3339 } from '../../text/rfc3339.ts';
import type { Digester } from '../../vault/digest.ts';
import { type AccountDeps, createAccount } from '../create-account.ts';
import { findAccount } from '../find.ts';
import type { AccountName } from '../selector.ts';
import { readKey, readSelector } from '../selector.ts';
import { completionOf } from './completion.ts';
import { mintToken, tokenDigest } from './tokens.ts';
import { isVerificationOff, PROVIDER_VERIFICATION } from './verification.ts';
import { requireListed } from './verify-url.ts';

export interface CreateLinkDeps extends Omit<AccountDeps, 'newId'> {
  newId(prefix: 'conn' | 'ca' | 'areq'): string;
  random(size: number): Buffer;
  digester: Digester;
  events: Events;
}

/** The fields of a request that creates a link, named as in the contract. */
export interface LinkRequest extends AccountName {
  state?: string | undefined;
  user_verify_url?: string | undefined;
  language?: string | undefined;
}

export interface CreatedLink {
  url: string;
  /** Milliseconds UTC. */
  expiresAt: number;
}

/**
 * Creates a link for an account. If the request names the account without an `id` and no such account exists yet, the
 * account is created too. If the connector has no connection yet, a connection is created. A new connection that still
 * lacks settings is a draft: it is written to the transaction, and then CONNECTION_NOT_READY is thrown. A caller that
 * commits the transaction keeps the draft.
 *
 * @param environment as read in this transaction
 * @throws ApiError NOT_FOUND for an unknown id; UNKNOWN_CONNECTOR, AMBIGUOUS_CONNECTOR, INCOMPLETE_ACCOUNT_KEY;
 * CONNECTION_DISABLED, CONNECTION_NOT_READY; UNSUPPORTED_CONNECTION_TYPE; VALIDATION_FAILED for `user_verify_url`, or
 * if the environment cannot have another connection
 */
export async function createLink(
  tx: Transaction,
  deps: CreateLinkDeps,
  environment: EnvironmentRow,
  { state, user_verify_url: userVerifyUrl, language, ...name }: LinkRequest,
  cause: Cause,
): Promise<CreatedLink> {
  const account = await findOrCreate(tx, deps, environment, name, cause);
  const connection = (await tx.connections.get(environment.id, account.connectionId)) as ConnectionRow;
  await checkConnection(tx, deps, environment, connection, account.authorizationType);
  const isOff = isVerificationOff(connection, environment);
  // An address is checked even if verification is off; otherwise a mistake would only show when verification is turned
  // on.
  const address = userVerifyUrl === undefined && isOff ? null : await verifyAddress(tx, environment, userVerifyUrl);
  const token = mintToken(deps.random);
  const at = deps.now();
  const expiresAt = at + (environment.settings.linkTtlMs ?? LIFETIME.linkMs);
  const id = deps.newId('areq');
  await tx.authRequests.insert(environment.id, {
    id,
    accountId: account.id,
    connectionId: connection.id,
    linkDigest: tokenDigest(deps.digester, 'link', token),
    linkExpiresAt: expiresAt,
    identifier: account.identifier,
    userVerifyUrl: isOff ? null : address,
    callerState: state ?? null,
    createdAt: at,
    expiresAt,
    language: language ?? null,
  });
  await deps.events.emit(tx, cause, {
    type: 'link.created',
    subject: account.id,
    details: { link_id: id },
    data: async (show) => ({ ...(await show.linkAccount(account.id)), expires_at: rfc3339(expiresAt) }),
  });
  return { url: linkUrl(environment, token), expiresAt };
}

function linkUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, token: string): string {
  return `${baseUrl}/connect/${token}`;
}

/**
 * Returns where the user is verified: at the address of the application or, if the request has none, by the OpenID
 * provider of the environment.
 *
 * @throws ApiError VALIDATION_FAILED if the address is not allowed, or if there is neither an address nor such a
 * provider
 */
async function verifyAddress(
  tx: Transaction,
  environment: EnvironmentRow,
  userVerifyUrl: string | undefined,
): Promise<string> {
  const hasProvider = userVerifyUrl === undefined && (await tx.loginProviders.get(environment.id))?.type === 'OIDC';
  return hasProvider ? PROVIDER_VERIFICATION : requireListed(environment, userVerifyUrl);
}

async function findOrCreate(
  tx: Transaction,
  deps: CreateLinkDeps,
  environment: EnvironmentRow,
  name: AccountName,
  cause: Cause,
): Promise<AccountRow> {
  const selector = readSelector(name);
  try {
    return await findAccount(tx, environment.id, selector);
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.code === 'NOT_FOUND';
    if (!isUnknown || selector.by === 'id') throw error;
  }
  const key = readKey(name);
  // The connection is checked first: a caller that keeps a new draft connection must not store an account for it.
  const connection = await ensureConnection(tx, deps, environment.id, key.connector, {}, cause);
  await checkConnection(tx, deps, environment, connection, connection.type);
  const { account } = await createAccount(tx, deps, environment.id, key, {}, cause);
  return account;
}

async function checkConnection(
  tx: Transaction,
  deps: CreateLinkDeps,
  environment: EnvironmentRow,
  connection: ConnectionRow,
  authorizationType: string,
): Promise<void> {
  const { enabled, status, environmentId, providerKey } = connection;
  const provider = await findProvider(tx, deps.catalogue, environmentId, providerKey);
  if (!provider) throw providerDeleted(connection);
  if (!enabled) throw connectionDisabled(connection);
  const pattern = requirePattern(provider, authorizationType, 'connector');
  if (!completionOf(pattern)) {
    throw new ApiError(
      'UNSUPPORTED_CONNECTION_TYPE',
      `Accounts of type ${pattern.type} cannot be connected with a link. Create or update the account through the API instead.`,
      {
        errors: [
          { field: 'connector', message: `names a connection of type ${pattern.type}, which does not support links` },
        ],
      },
    );
  }
  if (status === 'DRAFT') throw connectionDraft(environment, connection, { provider, pattern });
}
