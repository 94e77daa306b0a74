import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('deleteWebhookEndpoint', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}`;

  describe('200', () => {
    it('deletes the endpoint: nothing is delivered to it any more', async () => {
      world.receiver.handler = (_request, res) => res.writeHead(500).end();
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      expect(world.received()).to.have.length(1);
      const answer = await world.server.call('DELETE', pathOf(endpoint.id));
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body).to.deep.equal({});
      expect((await world.server.call('GET', pathOf(endpoint.id))).status).to.equal(404);
      world.clock.advance(60_000);
      await world.cause();
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
      const [delivery, ...others] = await world.deliveries(`?endpoint_id=${endpoint.id}`);
      expect(others).to.deep.equal([]);
      expect(delivery).to.include({ state: 'FAILED' });
      const [entry] = await auditOf(world.server, endpoint.id);
      expect(entry).to.include({ action: 'webhook_endpoint.deleted' });
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      const { endpoint } = await world.create();
      const { id } = endpoint;
      const unknown = await world.server.call('DELETE', pathOf(unknownId('whk')));
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('DELETE', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
