import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('getWebhookEndpoint', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}`;

  describe('200', () => {
    it('returns the endpoint without its secret', async () => {
      const { endpoint, secret } = await world.create({ description: 'Production' });
      const answer = await world.server.call('GET', pathOf(endpoint.id));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ webhook_endpoint: endpoint });
      expect(answer.text).not.to.include(secret);
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      const { endpoint } = await world.create();
      const { id } = endpoint;
      const unknown = await world.server.call('GET', pathOf(unknownId('whk')));
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('GET', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
