import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { type ChildServer, runCommand, startChildServer } from '../support/child-server.ts';
import { execute } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { databaseOfDirectory, isOnServer } from '../support/test-engine.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const APP = 'https://api.acme.example';
const TOKEN_PATH = '/token';
const MINUTE = 60_000;

describe('servers whose clocks differ by twenty minutes', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  const database = databaseOfDirectory(folder.path);
  let app: Upstream;
  let late: ChildServer;
  let early: ChildServer;
  /** Functions that send the responses to the received token requests. */
  let held: (() => unknown)[];
  let isOver = false;

  before(async () => {
    held = [];
    let tokens = 0;
    app = await startUpstream((request, res) => {
      if (request.target === TOKEN_PATH) {
        tokens += 1;
        const access_token = `token-${tokens}`;
        held.push(() => res.headersSent || json(res, 200, { access_token, token_type: 'Bearer', expires_in: 3600 }));
        return;
      }
      json(res, request.headers['authorization'] === `Bearer token-${tokens}` ? 200 : 401, { tokens });
    });
    const env = {
      ...database.env,
      DATA_DIR: folder.path,
      BASE_URL: 'http://localhost',
      VALETKEY_CLIENT_ID: CLIENT_ID,
      VALETKEY_CLIENT_SECRET: CLIENT_SECRET,
      VALETKEY_ENDPOINT_OVERRIDES: app.endpointOverride(APP),
    };
    const init = await runCommand(['init'], env);
    expect(init.code, init.stderr).to.equal(0);
    const shifted = (ms: number) => `const now = Date.now; Date.now = () => now() + ${ms};`;
    late = await startChildServer(env, { before: shifted(-10 * MINUTE) });
    early = await startChildServer(env, { before: shifted(10 * MINUTE) });
  });

  after(async () => {
    isOver = true;
    for (const answer of held) answer();
    await Promise.all([late, early].map((server) => server?.stop()));
    await app.stop();
    database.remove();
    folder.remove();
  });

  async function machineAccount(): Promise<string> {
    const oauth_config = { token_uri: `${APP}${TOKEN_PATH}`, client_auth_method: 'client_secret_post' };
    const { identifier } = await createProvider(late, {
      proxy_enabled: true,
      proxy_url: APP,
      auth_patterns: [{ type: 'OAUTH_M2M', oauth_config }],
    });
    const settings = { client_id: 'machine', client_secret: 'machine-secret' };
    const { key_id: connector } = await createConnection(late, { connector: identifier, ...settings });
    return (await createAccount(late, { connector, connectedAccount: {} })).id;
  }

  async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition()) && !isOver) await turn();
  }

  it('use the time of the database', async () => {
    for (const server of [late, early]) {
      const { created_at: at } = await createAccount(server);
      expect(Math.abs(Date.parse(at ?? '') - Date.now())).to.be.below(MINUTE);
    }
  });

  it('accept the tokens of each other', async () => {
    for (const [issuer, other] of [
      [late, early],
      [early, late],
    ] as const) {
      const headers = { authorization: `Bearer ${await issuer.token()}` };
      expect((await other.call('GET', '/api/v1/connected_accounts', { headers })).status).to.equal(200);
      const wrong = { authorization: `${headers.authorization}x` };
      expect((await other.call('GET', '/api/v1/connected_accounts', { headers: wrong })).status).to.equal(401);
    }
  });

  for (const first of ['late', 'early'] as const) {
    it(`do not take the lease of a refresh from each other while the ${first} one holds it`, async () => {
      const [holder, other] = first === 'late' ? [late, early] : [early, late];
      const id = await machineAccount();
      held.length = 0;
      const own = execute(holder, id, 'http_get', { path: '/x' });
      await until(() => held.length === 1);
      const second = execute(other, id, 'http_get', { path: '/x' });
      const running = `/api/v1/executions?connected_account_id=${id}&status=STARTED`;
      await until(async () => (await other.call('GET', running)).body.total_size === 2);
      // Gives the other server time to read the lease, which says that a token request is already running.
      for (let request = 0; request < 20; request++) await other.call('GET', running);
      expect(held, 'token requests').to.have.length(1);
      held[0]?.();
      const statuses = (await Promise.all([own, second])).map(({ status, text }) => [status, text].join(' '));
      for (const status of statuses) expect(status).to.match(/^200/);
      expect(held, 'token requests').to.have.length(1);
    });
  }
});
