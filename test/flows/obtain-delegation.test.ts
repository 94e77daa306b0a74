import { expect } from 'chai';
import { Secret } from '../../core/secret.ts';
import { closeAll } from '../core/net/local.ts';
import {
  type DelegationServer,
  ISSUER,
  keyFile,
  startDelegationServer,
  TOKEN_ENDPOINT,
  USERS,
} from '../core/workspace-dwd/delegation-server.ts';
import { createAccount } from '../support/accounts.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const APP = 'https://api.acme.example';
const [MARIA, JONAS] = USERS;

describe('an account by delegation, at a workspace that verifies assertions, over sockets', () => {
  let workspace: DelegationServer;
  let app: Upstream;
  let server: TestServer;
  let clock: TestClock;

  beforeEach(async () => {
    workspace = await startDelegationServer();
    app = await startUpstream(async ({ headers }, res) => {
      const who = await workspace.whoIs(new Secret(String(headers['authorization']).replace('Bearer ', '')));
      json(res, who === null ? 401 : 200, { who });
    });
    clock = testClock(Date.now());
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: `${app.endpointOverride(APP)},${ISSUER}=${workspace.origin}` },
      overrides: { now: clock.now },
    });
  });
  afterEach(async () => {
    await server.stop();
    await app.stop();
    await closeAll();
  });

  async function connect(
    subject: string,
    scopes = ['openid', 'mail.read'],
    oauth_config: object = { token_uri: TOKEN_ENDPOINT.href },
  ): Promise<string> {
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: APP,
      auth_patterns: [{ type: 'WORKSPACE_DWD', oauth_config }],
    });
    const client = { client_id: '104000000000000000001', client_secret: keyFile().reveal() };
    const { key_id: connector } = await createConnection(server, { connector: identifier, ...client, scopes });
    const connectedAccount = { authorization_details: { workspace_dwd: { subject } } };
    return (await createAccount(server, { connector, connectedAccount })).id;
  }

  const get = (id: string) => execute(server, id, 'http_get', { path: '/' });

  async function shown(id: string, operation: 'auth' | 'details'): Promise<Record<string, string>> {
    const { status, body, text } = await server.call('GET', `/api/v1/connected_accounts/${operation}?id=${id}`);
    expect(status, text).to.equal(200);
    return body.connected_account.authorization_details.workspace_dwd;
  }

  it('expires when the workspace does not know its subject (negative control)', async () => {
    const id = await connect('nobody@acme.example');
    expect((await get(id)).body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    expect((await accountRow(server, id)).status).to.equal('EXPIRED');
    expect(app.requests).to.deep.equal([]);
  });

  it('stays active, without a token, if the delegation does not include the scope (negative control)', async () => {
    const id = await connect(MARIA, ['openid', 'admin']);
    expect((await get(id)).body.tool_error).to.include({ kind: 'upstream_auth', retryable: false });
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
    expect(app.requests).to.deep.equal([]);
  });

  it('acts for its subject, with one token for 50 callers (R1)', async () => {
    const id = await connect(MARIA);
    const answers = await Promise.all(Array.from({ length: 50 }, () => get(id)));
    for (const { body, text } of answers) expect(body.data, text).to.deep.equal({ who: MARIA });
    expect(workspace.requests()).to.equal(1);
  });

  it('finds the token endpoint by the issuer alone, and uses it as the audience of its assertions', async () => {
    const id = await connect(MARIA, ['openid'], { issuer: ISSUER });
    expect((await get(id)).body.data).to.deep.equal({ who: MARIA });
    expect(workspace.requests()).to.equal(1);
  });

  it('shows its scopes and expiry, and its token only to clients that may read credentials', async () => {
    const id = await connect(MARIA);
    const { access_token: token, ...rest } = await shown(id, 'auth');
    expect(await workspace.whoIs(new Secret(String(token)))).to.equal(MARIA);
    const end = new Date(clock.now() + 3_600_000).toISOString();
    expect(rest).to.deep.equal({ subject: MARIA, scopes: ['openid', 'mail.read'], token_expires_at: end });
    expect(await shown(id, 'details')).to.deep.equal(rest);
  });

  it('deletes its token when its subject changes', async () => {
    const id = await connect(MARIA);
    await get(id);
    const body = { id, connected_account: { authorization_details: { workspace_dwd: { subject: JONAS } } } };
    expect((await server.call('PUT', '/api/v1/connected_accounts', { body })).status).to.equal(200);
    expect(await shown(id, 'details')).to.deep.equal({ subject: JONAS });
    expect((await get(id)).body.data).to.deep.equal({ who: JONAS });
    expect(workspace.requests()).to.equal(2);
  });
});
