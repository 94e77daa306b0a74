import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { ReceivedRequest } from '../support/upstream.ts';
import { verifyDelivery, type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('testWebhookEndpoint', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}:test`;

  describe('200', () => {
    it('delivers a test event to this endpoint only, for any event types of the endpoint', async () => {
      await world.create();
      const { endpoint, secret } = await world.create({ event_types: ['tool.created'] });
      await world.deliver();
      world.received();
      const answer = await world.server.call('POST', pathOf(endpoint.id));
      expect(answer.status, answer.text).to.equal(200);
      const { webhook_delivery: delivery } = answer.body;
      expect(delivery).to.include({
        endpoint_id: endpoint.id,
        state: 'PENDING',
        event_type: 'webhook_endpoint.tested',
      });
      await world.deliver();
      const requests = world.received();
      expect(requests).to.have.length(1);
      const event = verifyDelivery(secret, requests[0] as ReceivedRequest);
      expect(event).to.include({ id: delivery.event_id, type: 'webhook_endpoint.tested' });
      const [made] = await world.deliveries(`?event_id=${delivery.event_id}`);
      expect(made).to.include({ id: delivery.id, state: 'DELIVERED' });
    });
  });

  describe('409', () => {
    it('WEBHOOK_ENDPOINT_DISABLED for a disabled endpoint', async () => {
      const { endpoint } = await world.create();
      await world.server.call('POST', `/api/v1/webhook_endpoints/${endpoint.id}:disable`);
      const answer = await world.server.call('POST', pathOf(endpoint.id));
      expect(answer.body).to.include({ status: 409, code: 'WEBHOOK_ENDPOINT_DISABLED' });
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      const { endpoint } = await world.create();
      const { id } = endpoint;
      const unknown = await world.server.call('POST', pathOf(unknownId('whk')));
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('POST', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
