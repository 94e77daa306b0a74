import type {
  AccountRow,
  ConnectionRow,
  EnvironmentId,
  EnvironmentRow,
  ReadRepositories,
  Store,
} from '../../db/store.ts';
import type { SharedGrant } from '../authorization/module.ts';
import { secureEndpoints } from '../connections/client-endpoints.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { ApiError } from '../errors.ts';
import { type FaultyPart, OAuthConfigError } from '../oauth/config-error.ts';
import type { Discovery } from '../oauth/discovery.ts';
import { faultyPartOf } from '../oauth/problem.ts';
import { refreshFactsOf } from '../oauth/refresh-facts.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { Secret } from '../secret.ts';
import type { SignIdentityToken } from '../trusted-idp/identity-token.ts';
import type { Vault } from '../vault/vault.ts';
import type { Details } from './authorization-details.ts';
import { bindingViolation, HOSTS_CHANGED } from './binding.ts';
import { openGivenCredentials } from './credentials.ts';
import { endpointsOrigin, type ProviderContext, providerOf, SilentProviderError } from './oauth-provider.ts';
import { clientCredentialsRequest } from './obtaining/client-credentials.ts';
import { delegationRequest } from './obtaining/delegation.ts';
import { canObtainAgain, obtainingOf } from './obtaining/kinds.ts';
import { refreshRequest, refreshTokenOf } from './obtaining/refresh-token.ts';
import {
  type Destination,
  type DiscoveredProvider,
  HostsChangedError,
  type RequestMaker,
  type TokenRequest,
} from './obtaining/request.ts';
import { webIdentityRequest } from './obtaining/web-identity.ts';
import type { RefreshFailure } from './refresh-failure.ts';

/** Everything that one refresh needs, as it was read at one moment. */
export interface RefreshPlan extends TokenRequest {
  account: AccountRow;
  pattern: AuthPattern;
  /**
   * The credentials and settings that the request is built from, as text. The result is stored only if the account
   * still has the same credentials and settings.
   */
  basis: Secret;
  /** Whether the request can be made only once with these credentials, because it uses up a refresh token. */
  spends: boolean;
  /** A text that differs after each change of the account or its connection. */
  versions: string;
}

export type Planned =
  | { can: true; plan: RefreshPlan }
  | { can: false; why: 'no_refresh_token' | 'too_early' }
  | { can: false; why: 'not_bound'; reason: string }
  | { can: false; why: 'configuration'; faultyPart: FaultyPart; message: string }
  /** The provider's metadata is needed but cannot be read now. */
  | { can: false; why: 'silent'; failure: RefreshFailure };

export interface PlanDeps {
  store: Pick<Store, 'write'>;
  vault: Vault;
  catalogue: Catalogue;
  /** Signs identity tokens: JWTs that identify an account to a provider which trusts this server. */
  signIdentity: SignIdentityToken;
  random(size: number): Buffer;
  discovery: Discovery;
  /** Returns a fetch that can reach only these origins. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  now(): number;
}

const REQUESTS: Record<SharedGrant, RequestMaker> = {
  refresh_token: refreshRequest,
  client_credentials: clientCredentialsRequest,
  delegation: delegationRequest,
  web_identity: webIdentityRequest,
};

/**
 * Collects what is needed to get a new token for an account: the account's credentials, the provider's token endpoint
 * and the connection's client.
 *
 * @param leftMs how long the current token is still valid, in milliseconds; 0 or less if it cannot be used
 * @returns the plan, or why there is none. `not_bound`: the credentials must not be sent to this provider as it is now
 * (threat P2). `too_early`: the provider rejects refreshes until the token is closer to its expiry
 * @throws VaultError if the account's credentials cannot be decrypted
 */
export async function planRefresh(
  read: ReadRepositories,
  deps: PlanDeps,
  account: AccountRow,
  leftMs: number,
): Promise<Planned> {
  const { vault, catalogue, signIdentity: sign, random } = deps;
  const given = openGivenCredentials(vault, account, account);
  const obtaining = obtainingOf(account);
  const connection = (await read.connections.get(account.environmentId, account.connectionId)) as ConnectionRow;
  const basis = basisOf(account, given, connection);
  if (basis === null || obtaining === undefined) return { can: false, why: 'no_refresh_token' };
  try {
    const { provider, pattern } = await definitionOf(read, catalogue, connection, account);
    const breach = account.credentialsSealed === null ? null : bindingViolation(account, { provider, pattern });
    if (breach !== null) return { can: false, why: 'not_bound', reason: breach };
    const { marginMs } = refreshFactsOf(pattern.oauth_config ?? {});
    if (marginMs !== null && leftMs > marginMs) return { can: false, why: 'too_early' };
    const environment = (await read.environments.get(account.environmentId)) as EnvironmentRow;
    const use = { connection, provider, pattern, environment };
    const make = typeof obtaining === 'function' ? obtaining : REQUESTS[obtaining];
    const request = await make({
      ...{ account, connection, provider, pattern, given, vault },
      issuer: environment.baseUrl,
      signer: { sign, random },
      discoverProvider: (inputs) => ask(deps, { provider, pattern, inputs, connection }),
      requireDestination: (destination) => requireDestination(account, destination),
      secured: (oauth) => secureEndpoints(deps.store, vault, { ...use, oauth }, deps.now()),
    });
    const spends = !canObtainAgain(account);
    return {
      can: true,
      plan: { ...request, account, pattern, basis, spends, versions: versionsOf(account, connection) },
    };
  } catch (error) {
    if (error instanceof HostsChangedError) return { can: false, why: 'not_bound', reason: HOSTS_CHANGED };
    if (error instanceof SilentProviderError) {
      const { reason, retryAfterMs, message } = error;
      return { can: false, why: 'silent', failure: { reason, message, retryAfterMs } };
    }
    // A value of the account or a setting of the connection is missing or wrong; an operator can correct it.
    if (!(error instanceof OAuthConfigError || error instanceof ApiError)) throw error;
    return { can: false, why: 'configuration', faultyPart: faultyPartOf(error), message: error.message };
  }
}

/** Identifies the current versions of the account and its connection: a correction of either changes the text. */
export function versionsOf(account: Pick<AccountRow, 'version'>, connection: Pick<ConnectionRow, 'version'>): string {
  return `${account.version} ${connection.version}`;
}

/**
 * Rejects a destination that the account is not bound to. If the token endpoint comes from the provider's metadata,
 * only the origin that the metadata named first is accepted.
 */
function requireDestination({ origins, binding }: AccountRow, { origin, namingOrigin }: Destination): void {
  const isMoved = namingOrigin !== undefined && binding.issued !== null && binding.issued !== origin;
  if (isMoved || !origins.includes(namingOrigin ?? origin)) throw new HostsChangedError();
}

/**
 * Returns what a token request of this account is built from: its refresh token or, if tokens can be obtained without
 * one, all credentials and settings of the account and its connection. Returns null if a required refresh token is
 * missing.
 */
export function basisOf(account: AccountRow, given: Details, connection: ConnectionRow): Secret | null {
  if (!canObtainAgain(account)) return refreshTokenOf(given);
  const { clientId, clientGeneration, clientSecretSealed, scopes } = connection;
  const client = [clientId, clientGeneration, clientSecretSealed !== null, scopes];
  return new Secret(JSON.stringify([account.apiConfig, given, client]));
}

async function definitionOf(
  read: ReadRepositories,
  catalogue: Catalogue,
  connection: ConnectionRow,
  account: AccountRow,
): Promise<{ provider: ProviderDefinition; pattern: AuthPattern }> {
  if (!connection.enabled) throw new OAuthConfigError(`The connection ${connection.keyId} is disabled. Enable it.`);
  const provider = await findProvider(read, catalogue, account.environmentId, connection.providerKey);
  const pattern = provider && findPattern(provider, account.authorizationType);
  if (!pattern) {
    const { authorizationType: type } = account;
    throw new OAuthConfigError(
      `The provider ${connection.providerKey} was deleted or does not offer ${type} any more. Create another account.`,
    );
  }
  return { provider, pattern };
}

async function ask(
  { discovery, fetchFor, now }: PlanDeps,
  context: Omit<ProviderContext, 'needs'>,
): Promise<DiscoveredProvider> {
  const { environmentId } = context.connection;
  const request = { discovery, fetchFor: (origins: readonly string[]) => fetchFor(environmentId, origins), now };
  const whole: ProviderContext = { ...context, needs: 'tokens' };
  return { oauth: await providerOf(request, whole), namingOrigin: endpointsOrigin(whole) };
}
