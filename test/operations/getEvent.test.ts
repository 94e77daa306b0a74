import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('getEvent', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/events/${id}`;

  describe('200', () => {
    it('returns the event as it was delivered', async () => {
      await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      await world.deliver();
      const [request] = world.received();
      const answer = await world.server.call('GET', pathOf(request?.headers['webhook-id'] ?? ''));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ event: JSON.parse(request?.body ?? '') });
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      await world.create({ event_types: ['environment.updated'] });
      await world.cause();
      const id = (await world.events())[0]?.id ?? '';
      const unknown = await world.server.call('GET', pathOf(unknownId('evt')));
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('GET', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
