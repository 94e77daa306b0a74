import { expect } from 'chai';
import type { Operation } from '../../scripts/openapi-document.ts';
import { operationsOf } from '../../scripts/openapi-document.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { OAUTH_OPERATIONS, requestOf } from '../support/contract-requests.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestRequest, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import { contract } from './contract.ts';

/** Probes are never limited, because operators need them most when the server is busy. */
const UNLIMITED = ['getHealth', 'getReadiness'];
const LIMITED = operationsOf(contract).filter(({ id }) => !UNLIMITED.includes(id));

describe('the rate limit of every operation', () => {
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ env: { VALETKEY_RATE_LIMIT: '1' }, overrides: { now: clock.now } });
  });
  beforeEach(() => clock.advance(10_000));
  after(() => server.stop());

  function send(operation: Operation, changes: TestRequest = {}) {
    const { method, path, request } = requestOf(operation);
    return server.call(method, path, { ...request, ...changes });
  }

  for (const operation of LIMITED) {
    it(`of ${operation.id} is in headers and enforced: 429 until Retry-After has passed`, async () => {
      const first = await send(operation);
      expect(first.status).to.be.below(500).and.not.equal(429);
      expect(first.headers).to.include({ 'ratelimit-policy': '"client";q=1;w=1', ratelimit: '"client";r=0;t=1' });
      expect(first.headers).not.to.have.property('retry-after');

      const refused = await send(operation);
      expect(refused.status).to.equal(429);
      expect(refused.headers).to.include({
        ratelimit: '"client";r=0;t=1',
        'retry-after': '1',
        'cache-control': 'no-store',
      });
      if (OAUTH_OPERATIONS.includes(operation.id)) expect(refused.body.error).to.equal('temporarily_unavailable');
      else expect(refused.body).to.include({ status: 429, code: 'RATE_LIMITED' });

      clock.advance(1000);
      expect((await send(operation)).status).not.to.equal(429);
    });
  }

  it('does not apply to probes', async () => {
    for (const operation of operationsOf(contract).filter(({ id }) => UNLIMITED.includes(id))) {
      for (let round = 0; round < 3; round++) expect((await send(operation)).status, operation.id).to.equal(200);
    }
  });

  it('is shared by all operations of a client', async () => {
    await server.call('GET', '/api/v1/tools');
    expect((await server.call('GET', '/api/v1/connected_accounts')).status).to.equal(429);
  });

  it('is counted separately for each client, and separately in each environment', async () => {
    const body = { name: 'Another client', scopes: ['tools:read'] };
    const created = await server.call('POST', '/api/v1/api_clients', { body });
    const token = await accessToken(server, { clientId: created.body.api_client.id });
    const other = await addSecondEnvironment(server);
    expect((await server.call('GET', '/api/v1/tools')).status).to.equal(429);
    expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
    expect((await other.call('GET', '/api/v1/tools')).status).to.equal(200);
  });

  it('is not reduced by requests without a valid token', async () => {
    for (let round = 0; round < 3; round++) await server.call('GET', '/api/v1/tools', { token: 'garbage' });
    expect((await server.call('GET', '/api/v1/tools')).status).to.equal(200);
  });

  it('is checked before a body is read, and before secrets are compared (T2)', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const guess = { body: 'grant_type=client_credentials&client_id=x&client_secret=y', headers: form, token: null };
    expect((await server.call('POST', '/oauth/token', guess)).status).to.equal(401);
    for (let round = 0; round < 200; round++) {
      expect((await server.call('POST', '/oauth/token', guess)).status).to.equal(429);
    }
    expect((await server.call('GET', '/api/v1/tools')).status, 'a client with a token is unaffected').to.equal(200);
  });
});

describe('without a limit', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('responses have no rate limit headers', async () => {
    const { headers } = await server.call('GET', '/api/v1/tools');
    expect(headers).not.to.have.any.keys('ratelimit', 'ratelimit-policy', 'retry-after');
  });
});
