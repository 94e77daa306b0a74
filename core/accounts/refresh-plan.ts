import type { AccountRow, ConnectionRow, ReadRepositories } from '../../db/store.ts';
import { clientOf } from '../connections/client.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { accountInputs, filled } from '../connectors/base-url.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { ApiError } from '../errors.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { type TokenServer, tokenServerOf } from '../oauth/server.ts';
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
  /** The token to be spent. */
  refreshToken: Secret;
}

export type Planned =
  | { can: true; plan: RefreshPlan }
  | { can: false; why: 'no_refresh_token' | 'hosts_changed' }
  | { can: false; why: 'configuration'; message: string };

export interface PlanTools {
  vault: Vault;
  catalogue: Catalogue;
}

/**
 * Gathers what a refresh of an account needs: its refresh token, the provider's token endpoint, the connection's client.
 *
 * @returns the plan, or why there is none; `hosts_changed`: the endpoint is none of the origins that the credentials are bound
 *   to, so nothing may be sent to it (threat P2)
 * @throws VaultError when the account's credentials cannot be opened
 */
export async function planRefresh(read: ReadRepositories, tools: PlanTools, account: AccountRow): Promise<Planned> {
  const refreshToken = refreshTokenOf(openCredentials(tools.vault, account, account));
  if (refreshToken === null) return { can: false, why: 'no_refresh_token' };
  try {
    const connection = (await read.connections.get(account.environmentId, account.connectionId)) as ConnectionRow;
    const pattern = await patternOf(read, tools.catalogue, connection, account);
    const inputs = accountInputs(pattern, account.apiConfig);
    const server = tokenServerOf(pattern.oauth_config ?? {}, (template) => filled(template, inputs));
    if (!account.origins.includes(server.tokenEndpoint.origin)) return { can: false, why: 'hosts_changed' };
    const client = clientOf(tools.vault, connection, pattern);
    return { can: true, plan: { account, pattern, server, client, refreshToken } };
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
