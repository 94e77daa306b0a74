import type { AccountRow, ConnectionRow, ReadRepositories } from '../../db/store.ts';
import { clientOf } from '../connections/client.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { accountInputs } from '../connectors/base-url.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { withoutCredentials } from '../connectors/oauth-addresses.ts';
import { ApiError } from '../errors.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { endpointAt, oauthProviderOf } from '../oauth/provider.ts';
import { refreshFactsOf } from '../oauth/refresh-facts.ts';
import { type TokenServer, tokenServerAt } from '../oauth/server.ts';
import { Secret } from '../secret.ts';
import type { Vault } from '../vault/vault.ts';
import { openCredentials } from './credentials.ts';
import type { Details } from './details.ts';

/** All that one refresh needs, as it was read at one moment. */
export interface RefreshPlan {
  account: AccountRow;
  pattern: AuthPattern;
  server: TokenServer;
  client: ClientCredentials;
  /** Where the request goes. */
  origin: string;
  /** The token to be spent. */
  refreshToken: Secret;
  /** What the account was granted, as far as is known. */
  scopes: readonly string[];
}

export type Planned =
  | { can: true; plan: RefreshPlan }
  | { can: false; why: 'no_refresh_token' | 'hosts_changed' | 'too_early' }
  | { can: false; why: 'configuration'; message: string };

export interface PlanTools {
  vault: Vault;
  catalogue: Catalogue;
}

/**
 * Gathers what a refresh of an account needs: its refresh token, the provider's token endpoint, the connection's client.
 *
 * @param leftMs how long the present token is good for, in milliseconds; 0 or less when it is of no use
 * @returns the plan, or why there is none; `hosts_changed`: the endpoint is none of the origins that the credentials are bound
 *   to, so nothing may be sent to it (threat P2); `too_early`: the provider refuses refreshes until the end of a token is closer
 * @throws VaultError when the account's credentials cannot be opened
 */
export async function planRefresh(
  read: ReadRepositories,
  tools: PlanTools,
  account: AccountRow,
  leftMs: number,
): Promise<Planned> {
  const details = openCredentials(tools.vault, account, account);
  const refreshToken = refreshTokenOf(details);
  if (refreshToken === null) return { can: false, why: 'no_refresh_token' };
  try {
    const connection = (await read.connections.get(account.environmentId, account.connectionId)) as ConnectionRow;
    const pattern = await patternOf(read, tools.catalogue, connection, account);
    const { marginMs } = refreshFactsOf(pattern.oauth_config ?? {});
    if (marginMs !== null && leftMs > marginMs) return { can: false, why: 'too_early' };
    const server = tokenServerAt(oauthProviderOf(pattern, accountInputs(pattern, account.apiConfig)));
    const { origin } = destinationOf(server);
    if (!account.origins.includes(origin)) return { can: false, why: 'hosts_changed' };
    const client = clientOf(tools.vault, connection, pattern);
    return { can: true, plan: { account, pattern, server, client, origin, refreshToken, scopes: scopesOf(details) } };
  } catch (error) {
    // What a value of the account or a setting of the connection lacks, an operator can still supply.
    if (!(error instanceof OAuthConfigError || error instanceof ApiError)) throw error;
    return { can: false, why: 'configuration', message: error.message };
  }
}

/** The refresh token among the credentials of an account; null where there is none. */
export function refreshTokenOf(details: Details): Secret | null {
  const token = details.oauth_token?.['refresh_token'];
  return typeof token === 'string' && token !== '' ? new Secret(token) : null;
}

function scopesOf(details: Details): string[] {
  const scopes = details.oauth_token?.['scopes'];
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [];
}

/** Some providers refresh elsewhere than they issue tokens. */
function destinationOf({ refresh: { endpoint, call } }: TokenServer): URL {
  return call ? endpointAt(call.provider, withoutCredentials(call.recipe.uri), call.recipe.origin_from) : endpoint;
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
