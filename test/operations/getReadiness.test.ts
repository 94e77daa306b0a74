import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { isOnServer } from '../support/test-engine.ts';

const database = { engine: isOnServer() ? 'postgres' : 'sqlite', role: 'primary', replica: null };

describe('getReadiness', () => {
  let server: TestServer;

  afterEach(() => server.stop());

  it('200: is ready when database and keys are usable, on every host, without a token', async () => {
    server = await startTestServer({ env: { BASE_URL: 'https://keys.example.com' } });
    const answer = await server.call('GET', '/readyz', { token: null, headers: { host: '10.1.2.3' } });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ status: 'ready', checks: { database: 'ok', keys: 'ok' }, database });
  });

  for (const [what, state, checks] of [
    ['the database fails', { database: false, keys: true }, { database: 'failing', keys: 'ok' }],
    ['the keys fail', { database: true, keys: false }, { database: 'ok', keys: 'failing' }],
  ] as const) {
    it(`503: is not ready while ${what}`, async () => {
      server = await startTestServer({ overrides: { readiness: async () => state } });
      const answer = await server.call('GET', '/readyz', { token: null });
      expect(answer.status).to.equal(503);
      expect(answer.body).to.deep.equal({ status: 'not_ready', checks, database });
    });
  }

  it('reports whether the replica for lists is used and its delay, also in the metrics', async () => {
    const state = async () => ({
      engine: 'postgres' as const,
      role: 'primary' as const,
      replica: { isUsed: false, lagMs: 12_500 },
      standbys: [{ name: 'paris', lagBytes: 4096 }],
    });
    server = await startTestServer({ overrides: { store: wrap((store) => ({ ...store, state })) } });
    const { body } = await server.call('GET', '/readyz', { token: null });
    expect(body.database).to.deep.equal({
      engine: 'postgres',
      role: 'primary',
      replica: { used: false, lag_ms: 12_500 },
    });
    const metrics = await server.parts.metrics.registry.metrics();
    expect(metrics).to.include('valetkey_database_info{engine="postgres",role="primary"} 1\n');
    expect(metrics).to.include('valetkey_database_replica_lag_seconds{used="false"} 12.5\n');
    expect(metrics).to.include('valetkey_database_standby_lag_bytes{standby="paris"} 4096\n');
  });

  it('reports a database that was closed', async () => {
    server = await startTestServer();
    await server.parts.store.close();
    expect((await server.call('GET', '/readyz', { token: null })).body.checks.database).to.equal('failing');
  });
});
