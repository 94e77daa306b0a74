import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('enableWebhookEndpoint', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}:enable`;

  describe('200', () => {
    it('enables the endpoint: later events are delivered', async () => {
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      await world.server.call('POST', `/api/v1/webhook_endpoints/${endpoint.id}:disable`);
      await world.cause();
      const answer = await world.server.call('POST', pathOf(endpoint.id));
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.webhook_endpoint).to.deep.equal(endpoint);
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
      await world.cause();
      await world.deliver();
      expect(world.received()).to.have.length(1);
    });

    it('has no further effect when it is repeated', async () => {
      const { endpoint } = await world.create();
      const before = await auditOf(world.server, endpoint.id);
      const answer = await world.server.call('POST', pathOf(endpoint.id));
      expect(answer.body.webhook_endpoint.enabled).to.equal(true);
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
