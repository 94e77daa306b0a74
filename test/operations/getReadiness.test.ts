import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

describe('getReadiness', () => {
  let server: TestServer;

  afterEach(() => server.stop());

  it('200: is ready when database and keys are usable, on every host, without a token', async () => {
    server = await startTestServer({ env: { BASE_URL: 'https://keys.example.com' } });
    const answer = await server.call('GET', '/readyz', { token: null, headers: { host: '10.1.2.3' } });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ status: 'ready', checks: { database: 'ok', keys: 'ok' } });
  });

  for (const [what, state, checks] of [
    ['the database fails', { database: false, keys: true }, { database: 'failing', keys: 'ok' }],
    ['the keys fail', { database: true, keys: false }, { database: 'ok', keys: 'failing' }],
  ] as const) {
    it(`503: is not ready while ${what}`, async () => {
      server = await startTestServer({ overrides: { readiness: async () => state } });
      const answer = await server.call('GET', '/readyz', { token: null });
      expect(answer.status).to.equal(503);
      expect(answer.body).to.deep.equal({ status: 'not_ready', checks });
    });
  }

  it('notices a database that was closed under it', async () => {
    server = await startTestServer();
    await server.parts.store.close();
    expect((await server.call('GET', '/readyz', { token: null })).body.checks.database).to.equal('failing');
  });
});
