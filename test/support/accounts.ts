import type { TestServer } from './server.ts';

let made = 0;

export interface AccountOptions {
  connector?: string;
  identifier?: string;
  userId?: string;
  /** A personal access token; with the default connector, the account is ACTIVE with it. */
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

/** Returns a well-formed id of nothing that exists. */
export function unknownId(prefix: string): string {
  return `${prefix}_${'0'.repeat(26)}`;
}
