import type { AccountStatus } from '../../db/store.ts';
import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

let made = 0;

export interface AccountOptions {
  connector?: string;
  identifier?: string;
  userId?: string;
  /** A personal access token. With the default connector, it makes the account ACTIVE. */
  token?: string;
  connectedAccount?: Record<string, unknown>;
}

/** Creates an account over the API, by default of GitHub with a personal access token. */
export async function createAccount(server: Pick<TestServer, 'call'>, options: AccountOptions = {}) {
  made += 1;
  const {
    connector = 'github',
    identifier = `user-${made}`,
    userId = `owner-${made}`,
    token = `ghp_token${made}`,
  } = options;
  const connected_account = options.connectedAccount ?? {
    authorization_details: { static_auth: { details: { token } } },
  };
  const answer = await server.call('POST', '/api/v1/connected_accounts', {
    body: { connector, identifier, user_id: userId, connected_account },
  });
  if (answer.status !== 201) throw new Error(`account was not created: ${answer.text}`);
  return answer.body.connected_account as Record<string, string> & { id: string };
}

/** Creates an account with an OAuth token; its identifier is the user id. Without `scopes`, its scopes are unknown. */
export function createOAuthAccount(server: TestServer, userId: string, connector: string, scopes?: string[]) {
  return createAccount(server, {
    connector,
    userId,
    identifier: userId,
    connectedAccount: { authorization_details: { oauth_token: { access_token: 'at', ...(scopes && { scopes }) } } },
  });
}

/** Stores another status for an active account, without the other effects of such a change. */
export async function setAccountStatus(server: TestServer, id: string, status: AccountStatus): Promise<void> {
  const environment = await firstEnvironment(server);
  const change = { status, reason: null, updatedAt: server.parts.now() };
  await server.parts.store.write((tx) => tx.accounts.setStatus(environment.id, id, ['ACTIVE'], change));
}

/** Returns a well-formed id that no object has. */
export function unknownId(prefix: string): string {
  return `${prefix}_${'0'.repeat(26)}`;
}
