import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

describe('getHealth', () => {
  let server: TestServer;

  afterEach(() => server.stop());

  it('200: requires no token and responds on every host', async () => {
    server = await startTestServer({ env: { BASE_URL: 'https://keys.example.com' } });
    for (const host of ['localhost', '10.1.2.3:8080', 'unknown.example.com', '']) {
      const answer = await server.call('GET', '/healthz', { token: null, headers: { host } });
      expect([answer.status, answer.body], host).to.deep.equal([200, { status: 'ok' }]);
    }
  });

  it('reports a live process while the database is unusable, because a restart would not help', async () => {
    server = await startTestServer({ overrides: { readiness: async () => ({ database: false, keys: true }) } });
    expect((await server.call('GET', '/healthz', { token: null })).status).to.equal(200);
  });
});
