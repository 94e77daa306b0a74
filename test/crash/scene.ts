import { createAccount } from '../support/accounts.ts';
import type { ServerClient } from '../support/child-server.ts';
import { VERIFY_URL } from '../support/links.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { API_ORIGIN, type Counterpart } from './counterpart.ts';
import { importVersion } from './imports.ts';
import type { Ledger } from './ledger.ts';
import type { Scene } from './load.ts';

/**
 * Creates what the load uses: providers with their connections, an account for tools, a client whose secret is rotated,
 * and a first import.
 */
export async function prepareScene(
  server: ServerClient,
  { ledger, counterpart }: { ledger: Ledger; counterpart: Counterpart },
): Promise<Scene> {
  const keyed = await createProvider(server, {
    proxy_enabled: true,
    proxy_url: API_ORIGIN,
    auth_patterns: [API_KEY_PATTERN],
  });
  const addresses = { authorize_uri: `${API_ORIGIN}/authorize`, token_uri: `${API_ORIGIN}/token` };
  const oauth = await createProvider(server, {
    proxy_enabled: true,
    proxy_url: API_ORIGIN,
    auth_patterns: [{ type: 'OAUTH', oauth_config: addresses }],
  });
  const { key_id } = await createConnection(server, {
    connector: oauth.identifier,
    client_id: 'client',
    client_secret: 'secret-of-the-client',
  });
  const urls = await server.call('PUT', '/api/v1/environment', { body: { user_verify_urls: [VERIFY_URL] } });
  const client = { name: 'Rotated', scopes: ['tools:read'] };
  const made = await server.call('POST', '/api/v1/api_clients', { body: client });
  const imported = await importVersion(server, 1);
  const statuses = [urls, made, imported].map(({ status }) => status);
  if (String(statuses) !== '200,201,200') throw new Error(`${urls.text}${made.text}${imported.text}`);
  ledger.imports = [1];
  ledger.clientId = made.body.api_client.id;
  ledger.secrets = [made.body.client_secret];
  const connectedAccount = { authorization_details: { static_auth: { details: { api_key: 'tool-key' } } } };
  const { id } = await createAccount(server, { connector: keyed.identifier, identifier: 'tools', connectedAccount });
  return {
    keyedConnector: keyed.identifier,
    oauthConnector: key_id,
    toolAccount: id,
    rotationsOf: counterpart.rotationsOf,
  };
}
