import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('getWebhookDelivery', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_deliveries/${id}`;

  describe('200', () => {
    it('returns the delivery with its last attempt, without the signature', async () => {
      world.receiver.handler = (_request, res) => res.writeHead(500).end('x'.repeat(3000));
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      const [request] = world.received();
      const [listed] = await world.deliveries();
      const answer = await world.server.call('GET', pathOf(listed?.id ?? ''));
      const { webhook_delivery: delivery } = answer.body;
      expect(delivery).to.deep.equal(listed);
      expect(delivery).to.include({ endpoint_id: endpoint.id, state: 'PENDING', attempts: 1 });
      const { 'webhook-id': id, 'webhook-timestamp': timestamp } = request?.headers ?? {};
      expect(delivery.last_attempt).to.deep.include({
        url: world.url,
        headers: { 'webhook-id': id, 'webhook-timestamp': timestamp },
        response: { status: 500, body: 'x'.repeat(2048), is_truncated: true },
        error: 'The endpoint returned 500.',
      });
      expect(answer.text).not.to.include(request?.headers['webhook-signature']);
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      const id = (await world.deliveries())[0]?.id ?? '';
      const unknown = await world.server.call('GET', pathOf(unknownId('whd')));
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('GET', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
