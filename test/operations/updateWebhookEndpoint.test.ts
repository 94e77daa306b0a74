import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('updateWebhookEndpoint', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}`;
  const BODY = { description: 'Other' };

  describe('200', () => {
    it('changes the given fields, and nothing else', async () => {
      const { endpoint } = await world.create({ description: 'One', ordered: true });
      world.clock.advance(1000);
      const body = { event_types: ['tool.created'], url: `${world.url}/two` };
      const answer = await world.server.call('PUT', pathOf(endpoint.id), { body });
      expect(answer.status, answer.text).to.equal(200);
      const updated_at = new Date(world.clock.now()).toISOString();
      expect(answer.body.webhook_endpoint).to.deep.equal({ ...endpoint, ...body, updated_at });
      expect(await world.get(endpoint.id)).to.deep.equal(answer.body.webhook_endpoint);
      const [entry] = await auditOf(world.server, endpoint.id);
      expect(entry).to.deep.include({ action: 'webhook_endpoint.updated' });
      expect(entry?.details).to.deep.equal({ fields: ['event_types', 'url'], url: body.url });
    });

    it('applies to the next event, and to waiting deliveries', async () => {
      world.receiver.handler = ({ target }, res) => res.writeHead(target === '/hook' ? 500 : 204).end();
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      const body = { url: `${world.url}/two`, event_types: ['tool.created'] };
      await world.server.call('PUT', pathOf(endpoint.id), { body });
      world.clock.advance(5000);
      await world.cause();
      await world.deliver();
      const made = await world.deliveries(`?endpoint_id=${endpoint.id}`);
      expect(made).to.have.length(1);
      expect(made[0]).to.include({ state: 'DELIVERED', attempts: 2 });
    });
  });

  describe('400', () => {
    it('rejects a forbidden address, and changes nothing', async () => {
      const { endpoint } = await world.create();
      const body = { url: 'https://192.168.0.1/hook', description: 'New' };
      const answer = await world.server.call('PUT', pathOf(endpoint.id), { body });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.errors[0].field).to.equal('url');
      expect(await world.get(endpoint.id)).to.deep.equal(endpoint);
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      const { endpoint } = await world.create();
      const { id } = endpoint;
      const unknown = await world.server.call('PUT', pathOf(unknownId('whk')), { body: BODY });
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('PUT', pathOf(id), { body: BODY })).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
