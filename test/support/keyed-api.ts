import { createAccount } from './accounts.ts';
import { API_KEY_PATTERN, createProvider } from './providers.ts';
import type { TestServer } from './server.ts';

export const KEYED_ORIGIN = 'https://api.acme.example';
export const ACCOUNT_KEY = 'acme-key-0123456789';

/** Creates an account with an API key, of a custom provider that uses the tools of the generic HTTP connector. */
export async function createKeyedAccount(
  server: Pick<TestServer, 'call'>,
  {
    key = ACCOUNT_KEY,
    path = '',
    pattern = {},
  }: { key?: string; path?: string; pattern?: Record<string, unknown> } = {},
) {
  const provider = await createProvider(server, {
    proxy_enabled: true,
    proxy_url: `${KEYED_ORIGIN}${path}`,
    auth_patterns: [{ ...API_KEY_PATTERN, ...pattern }],
  });
  const account = await createAccount(server, {
    connector: provider.identifier,
    connectedAccount: { authorization_details: { static_auth: { details: { api_key: key } } } },
  });
  return { id: account.id, account, provider };
}
