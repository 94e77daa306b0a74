import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const PATH = '/.well-known/jwks.json';

describe('getJwks', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('200: publishes the public half of each signing key, and nothing of the private one', async () => {
    const answer = await server.call('GET', PATH, { token: null });
    expect(answer.status).to.equal(200);
    for (const key of answer.body.keys) {
      expect(key).to.have.all.keys('kty', 'crv', 'x', 'y', 'kid', 'use', 'alg');
      expect(key).to.include({ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' });
    }
    expect(new Set(answer.body.keys.map((key: { kid: string }) => key.kid)).size).to.equal(answer.body.keys.length);
  });

  it('may be cached for a while, because it contains no secret', async () => {
    const answer = await server.call('GET', PATH, { token: null });
    expect(answer.headers['cache-control']).to.equal('public, max-age=300');
  });

  it('publishes the same key after a restart, so that tokens remain valid', async () => {
    const folder = tempDir();
    try {
      const first = await startTestServer({ dataDir: folder.path });
      const before = (await first.call('GET', PATH)).text;
      const token = first.token('tools:read');
      await first.stop();
      const second = await startTestServer({ dataDir: folder.path });
      expect((await second.call('GET', PATH)).text).to.equal(before);
      expect((await second.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
      await second.stop();
    } finally {
      folder.remove();
    }
  });
});
