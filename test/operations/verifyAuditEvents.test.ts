import { expect } from 'chai';
import { tamper } from '../support/database-file.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const PATH = '/api/v1/audit_events:verify';

describe('verifyAuditEvents', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  it('403: requires the scope events:read', async () => {
    const token = world.server.token('events:write', 'admin');
    expect((await world.server.call('GET', PATH, { token })).body.code).to.equal('INSUFFICIENT_SCOPE');
    const allowed = await world.server.call('GET', PATH, { token: world.server.token('events:read') });
    expect(allowed.status).to.equal(200);
  });

  describe('200', () => {
    it('verifies an intact log, and finds the entry that breaks the chain', async () => {
      for (let count = 0; count < 5; count++) await world.cause();
      const { audit_events: entries, total_size } = (await world.server.call('GET', '/api/v1/audit_events')).body;
      const intact = await world.server.call('GET', PATH);
      expect(intact.body).to.deep.equal({
        intact: true,
        entries: total_size,
        verified_until: entries[0].created_at,
        broken_at: null,
      });
      const { databaseFile } = world.server.parts.config;
      const removed = entries[2];
      expect(tamper(databaseFile, 'delete from audit_log where seq = ?', removed.seq)).to.equal(1);
      const broken = await world.server.call('GET', PATH);
      expect(broken.body).to.deep.equal({
        intact: false,
        entries: null,
        verified_until: null,
        broken_at: entries[1].seq,
      });
    });
  });

  it('429: an environment can run two verifications at a time', async () => {
    const { capabilities, environmentOf } = world.server.parts;
    const { id } = await environmentOf('localhost');
    const leaves = [capabilities.audit.logPlaces.take(id), capabilities.audit.logPlaces.take(id)];
    const refused = await world.server.call('GET', PATH);
    expect(refused.body).to.include({ status: 429, code: 'RATE_LIMITED' });
    expect(refused.headers['retry-after']).to.match(/^\d+$/);
    leaves.pop()?.();
    for (let count = 0; count < 2; count++) expect((await world.server.call('GET', PATH)).status).to.equal(200);
    leaves.pop()?.();
  });
});
