import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('rotateWebhookSecret', () => {
  let world: WebhookWorld;

  before(async () => {
    world = await webhookWorld();
  });
  after(() => world.stop());

  const pathOf = (id: string) => `/api/v1/webhook_endpoints/${id}:rotate_secret`;
  const rotate = async (id: string, body: object = {}) => {
    const answer = await world.server.call('POST', pathOf(id), { body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  };

  describe('200', () => {
    it('adds a secret, and keeps the previous one for a day', async () => {
      const { endpoint, secret } = await world.create();
      const { webhook_endpoint: rotated, secret: next } = await rotate(endpoint.id);
      expect(next)
        .to.match(/^whsec_/)
        .and.not.to.equal(secret);
      const [added, previous] = rotated.secrets;
      expect(added.expires_at).to.equal(null);
      const expires_at = new Date(world.clock.now() + 86_400_000).toISOString();
      expect(previous).to.deep.equal({ ...endpoint.secrets[0], expires_at });
    });

    it('keeps two secrets at most, and one for an overlap of 0', async () => {
      const { endpoint } = await world.create();
      await rotate(endpoint.id);
      const { webhook_endpoint: twice } = await rotate(endpoint.id, { overlap_seconds: 60 });
      expect(twice.secrets).to.have.length(2);
      const { webhook_endpoint: alone } = await rotate(endpoint.id, { overlap_seconds: 0 });
      expect(alone.secrets).to.have.length(1);
    });

    it('returns the same secret to a repeated Idempotency-Key', async () => {
      const { endpoint } = await world.create();
      const headers = { 'idempotency-key': 'rotate-1' };
      const send = () => world.server.call('POST', pathOf(endpoint.id), { body: {}, headers });
      const [first, again] = [await send(), await send()];
      expect(again.headers['idempotency-replayed']).to.equal('true');
      expect(again.body).to.deep.equal(first.body);
      const actions = (await auditOf(world.server, endpoint.id)).map(({ action }) => action);
      expect(actions).to.deep.equal(['webhook_endpoint.secret_rotated', 'webhook_endpoint.created']);
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and an id of another environment (C1)', async () => {
      const { endpoint } = await world.create();
      const { id } = endpoint;
      const unknown = await world.server.call('POST', pathOf(unknownId('whk')), { body: {} });
      expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
      const other = await addSecondEnvironment(world.server);
      expect((await other.call('POST', pathOf(id), { body: {} })).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
