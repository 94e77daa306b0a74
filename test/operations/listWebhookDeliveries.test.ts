import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('listWebhookDeliveries', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  const PATH = '/api/v1/webhook_deliveries';

  describe('200', () => {
    it('lists deliveries, newest first, with filters and pages', async () => {
      const one = (await world.create({ event_types: ['environment.updated'] })).endpoint.id;
      const two = (await world.create({ event_types: ['environment.updated', 'api_client.created'] })).endpoint.id;
      await world.cause();
      await world.deliver();
      world.receiver.handler = (_request, res) => res.writeHead(500).end();
      const client = { name: 'Agent', scopes: ['tools:read'] };
      await world.server.call('POST', '/api/v1/api_clients', { body: client });
      await world.deliver();
      const all = await world.deliveries();
      expect(all.map(({ endpoint_id: id }) => id)).to.deep.equal([two, two, one]);
      expect(await world.deliveries(`?endpoint_id=${two}`)).to.deep.equal(all.slice(0, 2));
      expect(await world.deliveries('?state=PENDING')).to.deep.equal(all.slice(0, 1));
      expect(await world.deliveries('?state=DELIVERED')).to.deep.equal(all.slice(1));
      expect(await world.deliveries('?event_type=environment.updated')).to.deep.equal(all.slice(1));
      expect(await world.deliveries(`?event_id=${all[2]?.event_id}`)).to.deep.equal(all.slice(1));
      expect(await world.deliveries(`?endpoint_id=${one}&state=FAILED`)).to.deep.equal([]);
      const pages = await walkPages(world.server, `${PATH}?page_size=2`, 'webhook_deliveries');
      expect(pages.flat()).to.deep.equal(all);
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('GET', PATH)).body).to.deep.include({ webhook_deliveries: [], total_size: 0 });
    });
  });

  describe('400', () => {
    for (const query of ['state=WAITING', 'event_type=tool.exploded', 'endpoint_id=', 'page_size=0']) {
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
