import type { AccountRow, ConnectionRow, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { ApiError } from '../errors.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { refreshFactsOf } from '../oauth/refresh-facts.ts';
import { Secret } from '../secret.ts';
import type { SignIdentityToken } from '../trusted-idp/identity-token.ts';
import type { Vault } from '../vault/vault.ts';
import { openGiven } from './credentials.ts';
import type { Details } from './details.ts';
import { clientCredentialsRequest } from './obtaining/client-credentials.ts';
import { delegationRequest } from './obtaining/delegation.ts';
import { isOwnObtaining, type Obtaining, obtainingOf } from './obtaining/kinds.ts';
import { refreshRequest, refreshTokenOf } from './obtaining/refresh-token.ts';
import type { RequestMaker, TokenRequest } from './obtaining/request.ts';
import { webIdentityRequest } from './obtaining/web-identity.ts';

/** All that one refresh needs, as it was read at one moment. */
export interface RefreshPlan extends TokenRequest {
  account: AccountRow;
  pattern: AuthPattern;
  /** What the request is made of: its result is for an account that still has the same. */
  basis: Secret;
  /** Whether the request uses the basis up. */
  spends: boolean;
}

export type Planned =
  | { can: true; plan: RefreshPlan }
  | { can: false; why: 'no_refresh_token' | 'hosts_changed' | 'too_early' }
  | { can: false; why: 'configuration'; message: string };

export interface PlanTools {
  vault: Vault;
  catalogue: Catalogue;
  /** Signs what this service says of its accounts to those who trust it. */
  signIdentity: SignIdentityToken;
  random(size: number): Buffer;
}

const REQUESTS: Record<Obtaining, RequestMaker> = {
  refresh_token: refreshRequest,
  client_credentials: clientCredentialsRequest,
  delegation: delegationRequest,
  web_identity: webIdentityRequest,
};

/**
 * Gathers what it needs to get an account another token: what the account was given, the provider's token endpoint, the
 * connection's client.
 *
 * @param leftMs how long the present token is good for, in milliseconds; 0 or less when it is of no use
 * @returns the plan, or why there is none; `hosts_changed`: the endpoint is none of the origins that the credentials are bound
 *   to, so nothing may be sent to it (threat P2); `too_early`: the provider refuses refreshes until the end of a token is closer
 * @throws VaultError when the account's credentials cannot be opened
 */
export async function planRefresh(
  read: ReadRepositories,
  { vault, catalogue, signIdentity: sign, random }: PlanTools,
  account: AccountRow,
  leftMs: number,
): Promise<Planned> {
  const given = openGiven(vault, account, account);
  const basis = basisOf(account, given);
  const obtaining = obtainingOf(account.authorizationType);
  if (basis === null || obtaining === undefined) return { can: false, why: 'no_refresh_token' };
  try {
    const connection = (await read.connections.get(account.environmentId, account.connectionId)) as ConnectionRow;
    const pattern = await patternOf(read, catalogue, connection, account);
    const { marginMs } = refreshFactsOf(pattern.oauth_config ?? {});
    if (marginMs !== null && leftMs > marginMs) return { can: false, why: 'too_early' };
    const { baseUrl: issuer } = (await read.environments.get(account.environmentId)) as EnvironmentRow;
    const word = { sign, random };
    const request = REQUESTS[obtaining]({ account, connection, pattern, given, vault, issuer, word });
    if (!account.origins.includes(request.origin)) return { can: false, why: 'hosts_changed' };
    const spends = !isOwnObtaining(account.authorizationType);
    return { can: true, plan: { ...request, account, pattern, basis, spends } };
  } catch (error) {
    // What a value of the account or a setting of the connection lacks, an operator can still supply.
    if (!(error instanceof OAuthConfigError || error instanceof ApiError)) throw error;
    return { can: false, why: 'configuration', message: error.message };
  }
}

/**
 * What a request for a token of this account is made of: its refresh token, or all that it was given and configured with. null:
 * it lacks the refresh token that it would take.
 */
export function basisOf({ authorizationType, apiConfig }: AccountRow, given: Details): Secret | null {
  if (!isOwnObtaining(authorizationType)) return refreshTokenOf(given);
  return new Secret(JSON.stringify([apiConfig, given]));
}

async function patternOf(
  read: ReadRepositories,
  catalogue: Catalogue,
  connection: ConnectionRow,
  account: AccountRow,
): Promise<AuthPattern> {
  if (!connection.enabled) throw new OAuthConfigError('The connection is disabled.');
  const provider = await findProvider(read, catalogue, account.environmentId, connection.providerKey);
  const pattern = provider && findPattern(provider, account.authorizationType);
  if (!pattern) throw new OAuthConfigError('The provider no longer offers this type of authorization.');
  return pattern;
}
