import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { CLIENT_ID } from '../support/server.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('redeliverWebhooks', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}:redeliver`;
  const BODY = { since: '2026-01-01T00:00:00Z' };

  describe('200', () => {
    it('repeats failed deliveries, and with include_delivered all, in several transactions', async () => {
      const { endpoint } = await world.create({ event_types: ['environment.updated'] });
      for (let count = 0; count < 110; count++) await world.cause();
      await world.deliver();
      expect(world.received()).to.have.length(110);
      const answer = await world.server.call('POST', pathOf(endpoint.id), { body: BODY });
      expect(answer.status, answer.text).to.equal(200);
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
      await world.server.call('POST', pathOf(endpoint.id), { body: { ...BODY, include_delivered: true } });
      await world.deliver();
      expect(world.received()).to.have.length(110);
    });
  });

  it('records the actor and the request in the audit log', async () => {
    const { endpoint } = await world.create({ event_types: ['environment.updated'] });
    await world.server.call('POST', pathOf(endpoint.id), { body: BODY });
    const [event] = await auditOf(world.server, endpoint.id);
    expect(event).to.deep.include({
      action: 'webhook_endpoint.redelivered',
      actor: CLIENT_ID,
      details: { delivery_id: null, since: BODY.since, include_delivered: false },
    });
  });

  describe('400', () => {
    it('requires a time', async () => {
      const { endpoint } = await world.create();
      for (const body of [{}, { since: 'yesterday' }]) {
        const answer = await world.server.call('POST', pathOf(endpoint.id), { body });
        expect(answer.body.errors[0].field).to.equal('since');
      }
    });
  });

  describe('409', () => {
    it('WEBHOOK_ENDPOINT_DISABLED for a disabled endpoint', async () => {
      const { endpoint } = await world.create();
      await world.server.call('POST', `/api/v1/webhook_endpoints/${endpoint.id}:disable`);
      const answer = await world.server.call('POST', pathOf(endpoint.id), { body: BODY });
      expect(answer.body).to.include({ status: 409, code: 'WEBHOOK_ENDPOINT_DISABLED' });
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      const { endpoint } = await world.create();
      const { id } = endpoint;
      const unknown = await world.server.call('POST', pathOf(unknownId('whk')), { body: BODY });
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('POST', pathOf(id), { body: BODY })).body).to.include({
        status: 404,
        code: 'NOT_FOUND',
      });
    });
  });
});
