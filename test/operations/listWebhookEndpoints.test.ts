import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('listWebhookEndpoints', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const PATH = '/api/v1/webhook_endpoints';

  describe('200', () => {
    it('lists the endpoints, newest first, in pages', async () => {
      const secrets: string[] = [];
      const ids: string[] = [];
      for (let count = 0; count < 3; count++) {
        const { endpoint, secret } = await world.create();
        ids.unshift(endpoint.id);
        secrets.push(secret);
      }
      const all = await world.server.call('GET', PATH);
      expect(all.body.webhook_endpoints.map(({ id }: { id: string }) => id)).to.deep.equal(ids);
      expect(all.body.total_size).to.equal(3);
      for (const secret of secrets) expect(all.text).not.to.include(secret);
      const pages = await walkPages(world.server, `${PATH}?page_size=2`, 'webhook_endpoints');
      expect(pages.map((page) => page.length)).to.deep.equal([2, 1]);
    });

    it('returns no endpoint of another environment (C1)', async () => {
      await world.create();
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('GET', PATH)).body).to.deep.include({ webhook_endpoints: [], total_size: 0 });
    });
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
