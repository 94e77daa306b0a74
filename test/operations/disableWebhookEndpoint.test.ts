import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('disableWebhookEndpoint', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}:disable`;

  describe('200', () => {
    it('disables the endpoint: nothing more is delivered, and waiting deliveries fail', async () => {
      world.receiver.handler = (_request, res) => res.writeHead(500).end();
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      world.received();
      const answer = await world.server.call('POST', pathOf(endpoint.id));
      expect(answer.status, answer.text).to.equal(200);
      const { enabled, disabled_reason: reason } = answer.body.webhook_endpoint;
      expect({ enabled, reason }).to.deep.equal({ enabled: false, reason: 'Disabled by an API client.' });
      world.clock.advance(60_000);
      await world.cause();
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
      const states = (await world.deliveries(`?endpoint_id=${endpoint.id}`)).map(({ state }) => state);
      expect(states).to.deep.equal(['FAILED']);
    });

    it('has no further effect when it is repeated', async () => {
      const { endpoint } = await world.create();
      await world.server.call('POST', pathOf(endpoint.id));
      const before = await auditOf(world.server, endpoint.id);
      const answer = await world.server.call('POST', pathOf(endpoint.id));
      expect(answer.body.webhook_endpoint.enabled).to.equal(false);
      expect(await auditOf(world.server, endpoint.id)).to.deep.equal(before);
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
