import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('redeliverWebhook', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_deliveries/${id}:redeliver`;

  describe('200', () => {
    it('sends the delivery again, with the attempts counted from zero', async () => {
      await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      const [delivery] = await world.deliveries();
      const answer = await world.server.call('POST', pathOf(delivery?.id ?? ''));
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.webhook_delivery).to.include({ id: delivery?.id, state: 'PENDING', attempts: 0 });
      const [event] = await auditOf(world.server, delivery?.endpoint_id ?? '');
      expect(event).to.deep.include({
        action: 'webhook_endpoint.redelivered',
        details: { delivery_id: delivery?.id, since: null, include_delivered: true },
      });
      await world.deliver();
      const [first, second] = world.received();
      expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id']);
    });
  });

  describe('409', () => {
    it('WEBHOOK_ENDPOINT_DISABLED when the endpoint is disabled or was deleted', async () => {
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      const [delivery] = await world.deliveries(`?endpoint_id=${endpoint.id}`);
      const path = `/api/v1/webhook_endpoints/${endpoint.id}`;
      for (const [method, target] of [
        ['POST', `${path}:disable`],
        ['DELETE', path],
      ] as const) {
        await world.server.call(method, target);
        const answer = await world.server.call('POST', pathOf(delivery?.id ?? ''));
        expect(answer.body).to.include({ status: 409, code: 'WEBHOOK_ENDPOINT_DISABLED' });
      }
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      const id = (await world.deliveries())[0]?.id ?? '';
      const unknown = await world.server.call('POST', pathOf(unknownId('whd')));
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('POST', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
