import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('listEvents', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  const PATH = '/api/v1/events';

  describe('200', () => {
    it('lists stored events, newest first, with filters and pages', async () => {
      await world.create({ event_types: ['environment.updated', 'api_client.created'] });
      await world.cause();
      world.clock.advance(1000);
      const from = new Date(world.clock.now()).toISOString();
      const body = { name: 'Agent', scopes: ['tools:read'] };
      const { api_client: client } = (await world.server.call('POST', '/api/v1/api_clients', { body })).body;
      await world.cause();
      const all = await world.events();
      expect(all.map(({ type }) => type)).to.deep.equal([
        'environment.updated',
        'api_client.created',
        'environment.updated',
      ]);
      expect(all[1]?.data).to.deep.equal({ api_client: client });
      expect(await world.events('?type=api_client.created')).to.deep.equal(all.slice(1, 2));
      expect(await world.events(`?subject_id=${client.id}`)).to.deep.equal(all.slice(1, 2));
      expect(await world.events(`?created_from=${from}`)).to.deep.equal(all.slice(0, 2));
      expect(await world.events(`?created_before=${from}`)).to.deep.equal(all.slice(2));
      expect(await world.events(`?subject_id=${client.id}&type=environment.updated`)).to.deep.equal([]);
      const pages = await walkPages(world.server, `${PATH}?page_size=2`, 'events');
      expect(pages.flat()).to.deep.equal(all);
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('GET', PATH)).body).to.deep.include({ events: [], total_size: 0 });
    });

    it('no longer lists events and deliveries after 30 days', async () => {
      await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      world.clock.advance(30 * 86_400_000 - 1);
      await world.deliver();
      expect(await world.events()).to.have.length(1);
      world.clock.advance(60_000);
      await world.deliver();
      expect(await world.events()).to.deep.equal([]);
      expect(await world.deliveries()).to.deep.equal([]);
    });
  });

  describe('400', () => {
    for (const query of ['type=tool.exploded', 'created_from=yesterday', 'subject_id=']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await world.server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });

  describe('403', () => {
    it('requires the scope events:read', async () => {
      const token = world.server.token('events:write', 'admin');
      const refused = await world.server.call('GET', PATH, { token });
      expect(refused.body.code).to.equal('INSUFFICIENT_SCOPE');
      const allowed = await world.server.call('GET', PATH, { token: world.server.token('events:read') });
      expect(allowed.status).to.equal(200);
    });
  });
});
