import { expect } from 'chai';
import { keyFile } from '../core/workspace-dwd/delegation-server.ts';
import { createAccount } from '../support/accounts.ts';
import { expectAllRun } from '../support/emulated-tools.ts';
import { startEmulatedVendor } from '../support/emulators.ts';
import { execute, toolRunner } from '../support/execute.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { json, type Upstream } from '../support/upstream.ts';

const TOKEN = 'ya29.tokenOfMaria0001';
const [MARIA, NOBODY] = ['maria@example.com', 'nobody@example.com'];
const AUTH = 'https://www.googleapis.com/auth';

describe('tools that the emulator of Google knows, for an account by delegation', () => {
  let google: Upstream;
  let server: TestServer;

  before(async () => {
    google = await startEmulatedVendor('google', {
      seed: { users: [{ email: MARIA, name: 'Maria' }] },
      tokens: { [TOKEN]: { login: MARIA, scopes: [] } },
      accepts: ({ headers }) => headers['authorization'] === `Bearer ${TOKEN}`,
    });
    // The emulator does not support delegation, so the gate in front of it issues a token for an assertion.
    const { handler } = google;
    google.handler = (request, res, req) => {
      if (request.target !== '/token') return handler(request, res, req);
      const [, claims = ''] = (new URLSearchParams(request.body).get('assertion') ?? '').split('.');
      const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      if (sub !== MARIA) return json(res, 400, { error: 'invalid_grant' });
      return json(res, 200, { access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 });
    };
    const overrides = ['https://www.googleapis.com', 'https://oauth2.googleapis.com'].map(google.endpointOverride);
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
    const scopes = [`${AUTH}/userinfo.email`, `${AUTH}/calendar`, `${AUTH}/drive.readonly`];
    const client = {
      client_id: '104000000000000000001',
      client_secret: keyFile({ token_uri: 'https://oauth2.googleapis.com/token' }).reveal(),
      scopes,
    };
    await createConnection(server, { connector: 'google_workspace', key_id: 'google_workspace', ...client });
  });
  after(async () => {
    await server.stop();
    await google.stop();
  });

  const actingFor = (subject: string) => ({ authorization_details: { workspace_dwd: { subject } } });

  it('are refused for a user who is not in the workspace (negative control)', async () => {
    const connectedAccount = actingFor(NOBODY);
    const { id } = await createAccount(server, { connector: 'google_workspace', connectedAccount });
    const { body } = await execute(server, id, 'google_workspace_list_events');
    expect(body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
  });

  it('work for events and files', async () => {
    const ran = new Set<string>();
    const run = await toolRunner(server, 'google_workspace', actingFor(MARIA), ran);
    const [start, end] = ['2026-12-07T10:00:00+01:00', '2026-12-07T11:00:00+01:00'];
    const { id } = await run('create_event', { summary: 'Interview', start, end });
    const range = { time_min: '2026-12-07T00:00:00Z', time_max: '2026-12-08T00:00:00Z' };
    expect((await run('list_events', range)).map((event: { id: string }) => event.id)).to.deep.equal([id]);
    expect(await run('search_files', { q: "name = 'None'" })).to.deep.equal([]);
    expectAllRun('google_workspace', ran);
  });
});
