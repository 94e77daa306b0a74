import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { startLinkServer, VERIFY_URL } from '../support/links.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

const ADA = { user_id: 'ada', identifier: 'ada' };
const OAUTH = {
  type: 'OAUTH',
  oauth_config: { authorize_uri: 'https://acme.example/authorize', token_uri: 'https://acme.example/token' },
};

/** test/flows/next-actions.test.ts tests the same over REST. */
describe('X15: a call over MCP that needs an administrator first', () => {
  let server: TestServer;

  before(async () => {
    server = await startLinkServer();
  });
  after(() => server.stop());

  /** Creates a connection to a provider with one tool. @returns a function that calls the tool */
  async function offer(provider: Record<string, unknown>) {
    const { identifier } = await createProvider(server, provider);
    const connection = await createConnection(server, { connector: identifier });
    const name = `${identifier.replaceAll('-', '_')}_get_thing`;
    await storeTools(server, [ownTool(identifier, name)]);
    const call = async () => {
      const token = await sessionToken(server, connection.id, { ...ADA, user_verify_url: VERIFY_URL });
      const params = { name, arguments: { number: 7 } };
      const { body } = await rawMcp(server, connection.id, { token, method: 'tools/call', params });
      expect(body.result.isError).to.equal(true);
      return body.result.structuredContent.error;
    };
    return { identifier, connection, call };
  }

  it('names the operation that sets the client of the connection', async () => {
    const { connection, call } = await offer({
      proxy_enabled: true,
      proxy_url: 'https://acme.example',
      auth_patterns: [OAUTH],
    });
    const { code, next_action } = await call();
    expect(code).to.equal('ACCOUNT_NOT_ACTIVE');
    expect(next_action).to.include({ type: 'configure', operation_id: 'updateConnection' });
    const client = { client_id: 'app', client_secret: 'of-the-operator' };
    await server.call('PUT', `/api/v1/connections/${connection.id}`, { body: client });
    expect((await call()).next_action.url, 'then the user can do something').to.include('/connect/');
  });

  it('does not exist if the connection is disabled', async () => {
    const { connection, call } = await offer({ proxy_enabled: true, proxy_url: 'https://acme.example' });
    expect((await call()).next_action.url, 'the control').to.include('/connect/');
    await server.call('POST', `/api/v1/connections/${connection.id}:disable`);
    const token = await sessionToken(server, connection.id, ADA);
    const { body } = await rawMcp(server, connection.id, { token });
    expect(body.result.tools, 'a connection that is disabled offers nothing').to.deep.equal([]);
  });

  it('names the operation that sets the base URL of the provider, also when the account exists', async () => {
    const { identifier, connection, call } = await offer({});
    const connectedAccount = { authorization_details: { static_auth: { details: { api_key: 'key-0123456789' } } } };
    await createAccount(server, { connector: connection.key_id, userId: 'ada', identifier: 'ada', connectedAccount });
    const { code, next_action } = await call();
    expect(code).to.equal('PROVIDER_HAS_NO_BASE_URL');
    expect(next_action).to.include({ type: 'configure', operation_id: 'updateCustomProvider' });
    expect(next_action.message).to.match(/^An administrator must set the base URL of the provider\./);
    const body = { proxy_enabled: true, proxy_url: 'https://acme.example' };
    await server.call('PUT', `/api/v1/custom-providers/${identifier}`, { body });
    expect((await call()).code, 'the control').not.to.equal('PROVIDER_HAS_NO_BASE_URL');
  });
});
