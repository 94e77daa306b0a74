import { expect } from 'chai';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const PATH = '/api/v1/audit_events:export';

describe('exportAuditEvents', () => {
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
    it('returns every entry as one line of JSON, the oldest first, in several pieces', async () => {
      for (let count = 0; count < 210; count++) await world.cause();
      const answer = await world.server.call('GET', PATH);
      expect(answer.headers['content-type']).to.equal('application/jsonl');
      const lines = answer.text.trimEnd().split('\n');
      const entries = lines.map((line) => JSON.parse(line));
      const { audit_events: page, total_size: total } = (
        await world.server.call('GET', '/api/v1/audit_events?page_size=100')
      ).body;
      expect(entries).to.have.length(total);
      expect(entries.reverse().slice(0, 100)).to.deep.equal(page);
    });
  });

  it('429: an environment can run two exports at a time', async () => {
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
