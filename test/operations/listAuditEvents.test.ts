import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { CLIENT_ID } from '../support/server.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const PATH = '/api/v1/audit_events';

describe('listAuditEvents', () => {
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
    it('lists entries, newest first, with their hashes', async () => {
      const { endpoint, secret } = await world.create();
      await world.cause();
      const answer = await world.server.call('GET', PATH);
      const [newest, older] = answer.body.audit_events;
      expect(newest).to.include({ action: 'environment.updated', actor: CLIENT_ID, prev_hash: older.hash });
      expect(newest.seq).to.equal(older.seq + 1);
      expect(newest.details).to.deep.equal({ fields: ['link_lifetime_seconds'] });
      expect(older).to.include({ action: 'webhook_endpoint.created', subject_id: endpoint.id });
      expect(older.hash).to.match(/^[0-9a-f]{64}$/);
      expect(answer.text).not.to.include(secret);
    });

    it('combines filters, in pages', async () => {
      const { endpoint } = await world.create();
      await world.cause();
      world.clock.advance(1000);
      const from = new Date(world.clock.now()).toISOString();
      await world.cause();
      await world.cause();
      const list = async (query: string) => (await world.server.call('GET', `${PATH}${query}`)).body;
      const { audit_events: all, total_size: total } = await list('');
      expect(total).to.equal(all.length);
      const updates = all.filter(({ action }: { action: string }) => action === 'environment.updated');
      expect(updates).to.have.length(3);
      expect((await list('?action=environment.updated')).audit_events).to.deep.equal(updates);
      expect(await list(`?action=environment.updated&created_from=${from}`)).to.deep.include({
        audit_events: updates.slice(0, 2),
        total_size: 2,
      });
      expect((await list(`?created_before=${from}&actor=${CLIENT_ID}`)).audit_events).to.deep.include(updates[2]);
      const about = (await list(`?subject_id=${endpoint.id}`)).audit_events;
      expect(about.map(({ action }: { action: string }) => action)).to.deep.equal(['webhook_endpoint.created']);
      expect((await list('?actor=unknown')).audit_events).to.deep.equal([]);
      const pages = await walkPages(world.server, `${PATH}?action=environment.updated&page_size=2`, 'audit_events');
      expect(pages.flat()).to.deep.equal(updates);
    });

    it('shows no entry of another environment (C1)', async () => {
      await world.cause();
      const other = await addSecondEnvironment(world.server);
      const own = (await world.server.call('GET', PATH)).body.audit_events;
      const theirs = (await other.call('GET', PATH)).body.audit_events;
      const ids = own.map(({ id }: { id: string }) => id);
      expect(theirs.filter(({ id }: { id: string }) => ids.includes(id))).to.deep.equal([]);
    });
  });

  describe('400', () => {
    for (const query of ['actor=', 'created_from=yesterday', 'page_size=0']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await world.server.call('GET', `${PATH}?${query}`);
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });
});
