import type {
  AccountBinding,
  AccountRow,
  ConnectionRow,
  EnvironmentRow,
  Repositories,
  Transaction,
} from '../../db/store.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import { LIFETIME } from '../budgets.ts';
import { isClientOpen, openAddresses } from '../connections/allowed-addresses.ts';
import { clientOf } from '../connections/client.ts';
import { checkEndpoints } from '../connections/client-endpoints.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthField, AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { SITE } from '../connectors/sites.ts';
import { ApiError } from '../errors.ts';
import type { Events } from '../events/events.ts';
import type { JobOrder, JobQueue } from '../jobs/queue.ts';
import type { ClientAuthMethod, ClientCredentials } from '../oauth/client-auth.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { oauthProviderOf } from '../oauth/provider.ts';
import { VaultError } from '../vault/errors.ts';
import type { Vault } from '../vault/vault.ts';
import type { Details } from './authorization-details.ts';
import { bindingViolation, UNBOUND } from './binding.ts';
import { openCredentials, openGivenCredentials } from './credentials.ts';
import { formOf, publicPart, staticFieldsIn } from './details.ts';
import type { JsonObject } from './merge.ts';
import { enteredClient } from './obtaining/client-credentials.ts';
import { canObtainAgain } from './obtaining/kinds.ts';
import { emitRevocation } from './revocation-event.ts';
import { areEndpointsCovered } from './token-endpoints.ts';

/**
 * The job kind that revokes tokens. The subject of such a job is the account. The jobs of one provider are a lane,
 * which limits how many of them run concurrently.
 */
export const REVOCATION = 'revocation';

/**
 * Everything that the revocation needs, so that it also works after the account, its connection and the provider were
 * deleted.
 */
export interface RevocationOrder {
  connection_id: string;
  /** The user at the provider that the tokens belong to; null if unknown. */
  subject: string | null;
  /**
   * Whether the tokens belong to the client and not to a user's grant. Then revoking them cannot end the access of
   * another account.
   */
  own?: boolean;
  tokens: JsonObject;
  pattern: RevocationPattern;
  /** The account values that the provider's addresses contain. */
  inputs: AccountInputs;
  /** null if the connection had no usable client. */
  client: { id: string; method: ClientAuthMethod; secret: string | null } | null;
  /** Where the tokens may be sent. */
  origins: string[];
}

/** The part of a pattern that a revocation needs. */
export interface RevocationPattern {
  type: AuthorizationType;
  fields?: AuthField[];
  oauth_config?: OAuthConfig;
  auth_header_key_override?: string;
  auth_scheme?: string;
  is_mcp?: boolean;
}

export interface RevocationDeps {
  vault: Vault;
  catalogue: Catalogue;
  now(): number;
  events: Events;
  jobQueue: Pick<JobQueue, 'enqueue' | 'recordFailed'>;
}

/** The owner of the tokens to revoke, for example an account, and where they were issued. */
export interface Bearer
  extends Pick<AccountRow, 'environmentId' | 'id' | 'connectionId' | 'provider' | 'providerSubject'> {
  authorizationType: string;
  apiConfig: JsonObject;
  /** Where the tokens may be sent. */
  origins: string[];
  /** The pattern that was stored with the tokens; if undefined, it is looked up in the provider. */
  pattern?: RevocationPattern;
  /** The endpoints that the current provider definition may use to revoke the tokens. */
  binding?: Pick<AccountBinding, 'endpoints'>;
  /** The credentials with which Valetkey obtained the tokens, and the part of them that may be shown. */
  given?: Details;
  shown?: Details;
  /**
   * Whether the provider's definition has changed so that a client that was entered for the account must not be used.
   */
  isOutdated?: boolean;
  /** Whether the tokens belong to the client itself and not to a user's grant. */
  own?: boolean;
}

/**
 * Creates a job that revokes the tokens of an account at the provider, in the transaction that removes them from the
 * account.
 *
 * @returns whether a job was created; false if there are no tokens, or if they cannot be decrypted. For tokens that
 * cannot be decrypted, a failed job is recorded
 */
export async function orderAccountRevocation(
  tx: Transaction,
  deps: RevocationDeps,
  account: AccountRow,
): Promise<boolean> {
  if (account.credentialsSealed === null) return false;
  try {
    const given = openGivenCredentials(deps.vault, account, account);
    const details = openCredentials(deps.vault, account, account);
    const shown = publicPart(given, account.binding.fields);
    const isOutdated = await isBreached(tx, deps, account);
    return await orderRevocation(
      tx,
      deps,
      { ...account, given, shown, isOutdated, own: canObtainAgain(account) },
      details,
    );
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    // Credentials that cannot be decrypted must still be removable. The failed job records that they stay valid at the
    // provider.
    if (formOf(account.publicDetails as Details) === 'oauth_token') {
      const id = await deps.jobQueue.recordFailed(tx, jobOrderOf(account), UNREADABLE);
      const { environmentId, id: accountId } = account;
      await emitRevocation(tx, deps.events, 'revocation.failed', { environmentId, id, accountId, reason: UNREADABLE });
    }
    return false;
  }
}

async function isBreached(tx: Repositories, { catalogue }: RevocationDeps, account: AccountRow): Promise<boolean> {
  const provider = await findProvider(tx, catalogue, account.environmentId, account.provider);
  const pattern = provider && findPattern(provider, account.authorizationType);
  return provider && pattern ? bindingViolation(account, { provider, pattern }) !== null : false;
}

const UNREADABLE = 'The credentials could not be decrypted, so they could not be revoked.';

/**
 * Creates a job that revokes tokens at their provider, in the transaction that removes them. Only `oauth_token` details
 * can be revoked. For other forms, such as entered credentials or temporary cloud credentials, no job is created.
 *
 * @returns whether a job was created
 */
export async function orderRevocation(
  tx: Transaction,
  deps: RevocationDeps,
  bearer: Bearer,
  details: Details,
): Promise<boolean> {
  const tokens = details.oauth_token;
  if (formOf(details) !== 'oauth_token' || !tokens) return false;
  const { environmentId, connectionId: connection_id, providerSubject: subject, origins, binding = UNBOUND } = bearer;
  const provider = await findProvider(tx, deps.catalogue, environmentId, bearer.provider);
  const pattern = bearer.pattern ?? patternOf(provider, bearer);
  const inputs = accountInputs(pattern, bearer.apiConfig, staticFieldsIn(bearer.shown ?? {}));
  const isMoved = !bearer.pattern && provider && !areEndpointsCovered(binding.endpoints, { provider, pattern }, inputs);
  const order: RevocationOrder = {
    connection_id,
    subject,
    ...(bearer.own && { own: true }),
    tokens,
    pattern,
    inputs,
    client: isMoved ? null : await clientAt(tx, deps, bearer, { provider, pattern, inputs }),
    origins,
  };
  await deps.jobQueue.enqueue(tx, jobOrderOf(bearer), order);
  return true;
}

/**
 * Returns the part of a pattern that is stored with tokens, so that they can be revoked after the provider was deleted.
 */
export function revocationPattern(pattern: AuthPattern): RevocationPattern {
  const { type, fields, oauth_config, auth_header_key_override, auth_scheme, is_mcp } = pattern;
  const { available_scopes: _scopes, ...config } = oauth_config ?? {};
  return { type, fields, oauth_config: config, auth_header_key_override, auth_scheme, is_mcp };
}

function jobOrderOf({ environmentId, id, provider }: Pick<Bearer, 'environmentId' | 'id' | 'provider'>): JobOrder {
  const giveUpAfterMs = LIFETIME.revocationAttemptsMs;
  return { environmentId, kind: REVOCATION, lane: provider, subjectId: id, giveUpAfterMs };
}

function patternOf(provider: ProviderDefinition | undefined, { authorizationType }: Bearer): RevocationPattern {
  const pattern = provider && findPattern(provider, authorizationType);
  return pattern ? revocationPattern(pattern) : { type: authorizationType as AuthorizationType };
}

async function clientAt(
  tx: Repositories,
  { vault }: RevocationDeps,
  { environmentId, connectionId, given = {}, isOutdated }: Bearer,
  place: { provider: ProviderDefinition | undefined; pattern: RevocationPattern; inputs: AccountInputs },
): Promise<RevocationOrder['client']> {
  const connection = await tx.connections.get(environmentId, connectionId);
  if (!connection) return null;
  const { pattern } = place;
  try {
    if (formOf(given) === 'static_auth') return isOutdated ? null : ordered(enteredClient(given, pattern));
    if (!(await isUsableAt(tx, connection, place))) return null;
    return ordered(clientOf(vault, { ...place, connection }));
  } catch (error) {
    if (error instanceof OAuthConfigError || error instanceof ApiError) return null;
    throw error;
  }
}

function ordered({ clientId: id, method, secret }: ClientCredentials): RevocationOrder['client'] {
  return { id, method, secret: secret?.reveal() ?? null };
}

/**
 * Whether the client of the connection may be sent to these endpoints. A revocation must not be the first request that
 * sends a client to an address which an account has chosen.
 */
async function isUsableAt(
  tx: Repositories,
  connection: ConnectionRow,
  {
    provider,
    pattern,
    inputs,
  }: { provider: ProviderDefinition | undefined; pattern: AuthPattern; inputs: AccountInputs },
): Promise<boolean> {
  if (provider === undefined) return openAddresses(pattern).length === 0;
  if (!isClientOpen(provider, pattern) && !inputs[SITE]?.isForeign) return true;
  const environment = (await tx.environments.get(connection.environmentId)) as EnvironmentRow;
  const oauth = oauthProviderOf(pattern, inputs);
  return checkEndpoints({ connection, provider, pattern, environment, oauth }) === null;
}
