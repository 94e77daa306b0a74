import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

describe('createWebhookEndpoint', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  const PATH = '/api/v1/webhook_endpoints';

  describe('201', () => {
    it('returns an enabled endpoint for all events, with its secret', async () => {
      const { endpoint, secret } = await world.create();
      const at = new Date(world.clock.now()).toISOString();
      expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(endpoint.id).to.match(/^whk_/);
      const [key] = endpoint.secrets;
      expect(endpoint).to.deep.equal({
        id: endpoint.id,
        url: world.url,
        description: '',
        event_types: [],
        ordered: false,
        algorithm: 'HMAC_SHA256',
        enabled: true,
        disabled_reason: '',
        failing_since: null,
        secrets: [{ id: key?.id, public_key: null, created_at: at, expires_at: null }],
        created_at: at,
        updated_at: at,
      });
    });

    it('uses the settings of the request, and has its own private key', async () => {
      const input = { description: 'Status', event_types: ['tool.created'], ordered: true, algorithm: 'ED25519' };
      const { endpoint, secret } = await world.create(input);
      expect(endpoint).to.deep.include(input);
      expect(secret).to.equal('');
      expect(endpoint.secrets[0]?.public_key).to.match(/^whpk_[A-Za-z0-9+/]{43}=$/);
    });

    it('creates a different secret for each endpoint, and stores it encrypted only', async () => {
      const [one, two] = [await world.create(), await world.create()];
      expect(one.secret).not.to.equal(two.secret);
      const dump = JSON.stringify(dumpDatabase(world.server));
      expect(dump).to.include(one.endpoint.id);
      for (const { secret } of [one, two]) expect(dump).not.to.include(secret.slice('whsec_'.length));
      expect(world.server.logs.join()).not.to.include(one.secret);
    });

    it('records the address in the audit log, and not the secret', async () => {
      const { endpoint, secret } = await world.create();
      const [entry] = await auditOf(world.server, endpoint.id);
      expect(entry).to.deep.include({ action: 'webhook_endpoint.created', details: { url: world.url } });
      expect(JSON.stringify(entry)).not.to.include(secret);
    });
  });

  describe('400', () => {
    for (const [url, reason] of [
      ['http://app.example/hook', 'Only https URLs can be called'],
      ['https://user:pass@app.example/hook', 'must not contain a user name'],
      ['https://10.0.0.1/hook', 'not a public internet address'],
      ['https://169.254.169.254/latest', 'not a public internet address'],
      ['https://[::1]/hook', 'not a public internet address'],
      ['http://127.0.0.1:1/hook', 'Only https URLs can be called'],
      ['ftp://app.example/hook', 'Only https URLs can be called'],
      ['hook', 'not a URL'],
    ] as const) {
      it(`rejects ${url}`, async () => {
        const answer = await world.server.call('POST', PATH, { body: { url } });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal('url');
        expect(answer.body.errors[0].message).to.include(reason);
      });
    }

    it('names an unknown event, an unknown field and a missing address', async () => {
      const refused = async (body: object) => (await world.server.call('POST', PATH, { body })).body.errors[0].field;
      expect(await refused({ url: world.url, event_types: ['tool.exploded'] })).to.equal('event_types[0]');
      expect(await refused({ url: world.url, secret: 'mine' })).to.equal('secret');
      expect(await refused({})).to.equal('url');
    });
  });

  describe('403', () => {
    it('requires the scope events:write', async () => {
      const token = world.server.token('events:read', 'admin');
      const refused = await world.server.call('POST', PATH, { token, body: { url: world.url } });
      expect(refused.body.code).to.equal('INSUFFICIENT_SCOPE');
      const allowed = await world.server.call('POST', PATH, {
        token: world.server.token('events:write'),
        body: { url: world.url },
      });
      expect(allowed.status).to.equal(201);
    });
  });

  describe('409', () => {
    it('WEBHOOK_ENDPOINT_LIMIT for the fifty-first endpoint', async () => {
      for (let count = 0; count < 50; count++) await world.create();
      const answer = await world.server.call('POST', PATH, { body: { url: world.url } });
      expect(answer.body).to.include({ status: 409, code: 'WEBHOOK_ENDPOINT_LIMIT' });
    });
  });
});
