import { expect } from 'chai';
import { serverBusy, toToolError } from '../../core/accounts/refresh-failure.ts';
import { createAccount } from '../support/accounts.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { syncTools } from '../support/mcp-provider.ts';
import { createProvider } from '../support/providers.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const BUSY = toToolError({ reason: 'busy', message: 'Too many wait.', retryAfterMs: 6_500 }, true);

describe('F10: an account whose token finds no free slot to be refreshed', () => {
  let acme: Upstream;
  let server: TestServer;
  let id: string;

  /** Tests the responses of the API when all slots for refreshes are taken. refresh.test.ts tests the refresher. */
  before(async () => {
    acme = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: {
        freshen: () => Promise.reject(serverBusy(BUSY)),
        ensureFresh: async (account) => ({ account, error: BUSY }),
        refreshNow: () => Promise.reject(serverBusy(BUSY)),
      },
    });
    ({ id } = await createKeyedAccount(server));
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  function expectBusy(answer: TestResponse): void {
    expect(answer.status, answer.text).to.equal(503);
    expect(answer.body).to.include({ code: 'SERVER_BUSY' });
    expect(answer.headers['retry-after']).to.equal('7');
    expect(acme.requests).to.have.length(0);
  }

  it('is named in the error of a tool call, which can be sent again with the same key', async () => {
    const headers = { 'idempotency-key': 'busy' };
    for (let count = 0; count < 2; count++) {
      const answer = await execute(server, id, 'http_post', { path: '/', body: {} }, { headers });
      expectBusy(answer);
      expect(answer.headers['idempotency-replayed']).to.equal(undefined);
      expect(answer.body.tool_error).to.include({ kind: 'service_busy', retryable: true, retry_after_ms: 6_500 });
      const record = await finishedExecution(server, answer.body.execution_id);
      expect(record).to.include({ status: 'FAILED', error_kind: 'service_busy' });
    }
  });

  it('is named in the error of a raw call', async () => {
    expectBusy(await server.call('GET', '/api/v1/proxy/x', { headers: { 'valetkey-account-id': id } }));
  });

  it('is not used with an expired token', async () => {
    expectBusy(await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`));
  });

  it('prevents the tools of its MCP server from being read', async () => {
    const pattern = {
      type: 'BEARER_TOKEN',
      is_mcp: true,
      fields: [{ field_name: 'token', label: 'Token', input_type: 'password', required: true }],
    };
    const { identifier } = await createProvider(server, { auth_patterns: [pattern], proxy_url: `${KEYED_ORIGIN}/mcp` });
    await createAccount(server, {
      connector: identifier,
      connectedAccount: { authorization_details: { static_auth: { details: { token: 'token-0123456789' } } } },
    });
    expectBusy(await syncTools(server, identifier));
  });

  it('ends a tool call whose credential was rejected, when all slots for refreshes are taken', async () => {
    const one = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { refreshNow: () => Promise.reject(serverBusy(BUSY)) },
    });
    acme.handler = (_request, res) => json(res, 401, {});
    const { id: other } = await createKeyedAccount(one);
    const answer = await execute(one, other, 'http_get', { path: '/' });
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).to.deep.equal([503, 'SERVER_BUSY', '7']);
    acme.requests.length = 0;
    await one.stop();
  });
});
