import { expect } from 'chai';
import { MCP_LOGIN } from '../../core/budgets.ts';
import { NOW, oauthClient, oauthGrant } from '../db/support.ts';
import { auditOf } from '../support/audit.ts';
import { type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';

describe('registerOAuthClient', () => {
  let world: LoginWorld;

  beforeEach(async () => {
    world = await startLoginWorld();
  });
  afterEach(() => world.stop());

  describe('201', () => {
    it('registers a public client', async () => {
      const { status, body, headers } = await world.register();
      expect(status).to.equal(201);
      expect(headers['cache-control']).to.equal('no-store');
      expect(body.client_id).to.match(/^ocl_/);
      expect(body).to.deep.equal({
        client_id: body.client_id,
        client_id_issued_at: Math.floor(world.clock.now() / 1000),
        client_name: 'Dynamic Client',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      });
    });

    it('returns a secret to a client that sends no other method, as the standard says', async () => {
      const { body } = await world.register({ token_endpoint_auth_method: undefined });
      expect(body).to.include({ token_endpoint_auth_method: 'client_secret_basic', client_secret_expires_at: 0 });
      expect(body.client_secret).to.match(/^vks_/);
    });

    it('ignores unknown types, scopes, methods and extensions', async () => {
      const { status, body } = await world.register({
        application_type: 'web',
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
        scope: 'admin everything',
        token_endpoint_auth_method: 'private_key_jwt',
        software_statement: { any: ['thing'] },
        response_types: ['code', 'token'],
        contacts: null,
      });
      expect(status).to.equal(201);
      expect(body).to.deep.include({ grant_types: ['authorization_code'], token_endpoint_auth_method: 'none' });
    });

    it('accepts cross-origin requests of any origin (CORS)', async () => {
      const { headers } = await world.register();
      expect(headers['access-control-allow-origin']).to.equal('*');
    });

    it('is undone for a client that was not used within a day, and kept for one that was', async () => {
      const [unused, used] = [(await world.register()).body.client_id, (await world.register()).body.client_id];
      const redirect_uri = 'http://127.0.0.1:5000/callback';
      const code = await world.login({ client_id: used, redirect_uri });
      expect((await world.exchange(code, { client_id: used, redirect_uri })).status).to.equal(200);
      world.clock.advance(MCP_LOGIN.unusedClientMs);
      const { store, now } = world.server.parts;
      const environment = await world.server.parts.environmentOf('127.0.0.1');
      const sweep = () =>
        store.write((tx) => tx.oauthClients.sweepUnused(environment.id, now() - MCP_LOGIN.unusedClientMs, 9));
      expect(await sweep()).to.equal(1);
      expect(await store.read.oauthClients.get(environment.id, unused)).to.equal(undefined);
      expect(await store.read.oauthClients.get(environment.id, used)).to.include({ id: used });
    });
  });

  describe('400', () => {
    for (const [title, metadata, error] of [
      ['a redirect URI in plain http', { redirect_uris: ['http://client.example/'] }, 'invalid_redirect_uri'],
      ['a scheme that is not listed', { redirect_uris: ['evil://callback'] }, 'invalid_redirect_uri'],
      ['no redirect URI', { redirect_uris: undefined }, 'invalid_client_metadata'],
      ['an empty list', { redirect_uris: [] }, 'invalid_client_metadata'],
      ['a name that is not text', { client_name: { toString: 'x' } }, 'invalid_client_metadata'],
      ['21 redirect URIs', { redirect_uris: Array(21).fill('https://a.example/') }, 'invalid_client_metadata'],
    ] as const) {
      it(`${error} for ${title}`, async () => {
        const { status, body } = await world.register(metadata);
        expect(status).to.equal(400);
        expect(body.error).to.equal(error);
        expect(body.error_description).to.be.a('string');
      });
    }

    it('invalid_client_metadata for a body that is not JSON', async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await world.server.call('POST', '/oauth/register', { token: null, body: '{', headers });
      expect(answer.body.error).to.equal('invalid_client_metadata');
    });
  });

  describe('403', () => {
    it('if the environment has disabled it, which the metadata show', async () => {
      const path = '/.well-known/oauth-authorization-server';
      const set = (value: boolean | null) =>
        world.server.call('PUT', '/api/v1/environment', { body: { mcp_dynamic_registration: value } });
      expect((await world.server.call('GET', path)).body).to.have.property('registration_endpoint');
      await set(false);
      const { status, body } = await world.register();
      expect([status, body.error]).to.deep.equal([403, 'access_denied']);
      world.clock.advance(60_000);
      expect((await world.server.call('GET', path)).body).to.not.have.property('registration_endpoint');
      await set(null);
      expect((await world.register()).status).to.equal(201);
    });
  });

  describe('429', () => {
    it('limits registrations from one address, which can continue after an hour', async () => {
      const { store, now, digester } = world.server.parts;
      const environment = await world.server.parts.environmentOf('127.0.0.1');
      expect((await world.register()).status).to.equal(201);
      const { rows } = await store.read.oauthClients.list(environment.id, { size: 1 });
      const [client] = rows;
      if (!client) throw new Error('no client');
      await store.write(async (tx) => {
        for (let count = 1; count < MCP_LOGIN.registrations; count++)
          await tx.oauthClients.insert(environment.id, { ...client, id: `ocl_${count}`, createdAt: now() });
      });
      const refused = await world.register();
      expect([refused.status, refused.body.error]).to.deep.equal([429, 'temporarily_unavailable']);
      expect(refused.headers['retry-after']).to.equal('3600');
      expect(client.originDigest, 'the address is stored as a digest').to.not.deep.equal(digester.digest('127.0.0.1'));
      world.clock.advance(MCP_LOGIN.registrationsMs);
      expect((await world.register()).status).to.equal(201);
    });

    it('limits used clients: while all have grants none is accepted, then those without one are replaced, the least recently used first', async () => {
      const { store, environmentOf } = world.server.parts;
      const { id } = await environmentOf('127.0.0.1');
      const expiresAt = world.clock.now() + 60_000;
      const clients = Array.from(
        { length: MCP_LOGIN.usedClients },
        (_, place) => `ocl_${String(place).padStart(4, '0')}`,
      );
      await store.write(async (tx) => {
        for (const [place, clientId] of clients.entries()) {
          await tx.oauthClients.insert(id, oauthClient(clientId));
          await tx.oauthClients.touch(id, clientId, NOW + place);
          await tx.oauthGrants.insert(id, oauthGrant(`grt_${place}`, { clientId, userId: `user_${place}`, expiresAt }));
        }
      });
      const left = async (places: number[]) => {
        const rows = await Promise.all(
          places.map((place) => store.read.oauthClients.get(id, clients[place] as string)),
        );
        return places.filter((_, index) => rows[index] !== undefined);
      };
      const refused = await world.register();
      expect([refused.status, refused.body.error]).to.deep.equal([429, 'temporarily_unavailable']);
      expect(refused.body.error_description).to.include('users have granted access to all of them');

      const ended = [1, 3, 5, 7, 9, 11];
      await store.write(async (tx) => {
        for (const place of ended) await tx.oauthGrants.delete(id, `grt_${place}`);
      });
      const { status, text } = await world.register();
      expect(status, text).to.equal(201);
      expect(await left([0, ...ended])).to.deep.equal([0, 11]);
      const entries = await auditOf(world.server, clients[1] as string);
      expect(entries.map(({ action, actor }) => [action, actor])).to.deep.equal([['mcp_client.deleted', 'mcp_client']]);
      // Clients register again after this error.
      const answer = await world.exchange('x', { client_id: clients[1] as string });
      expect([answer.status, answer.body.error]).to.deep.equal([401, 'invalid_client']);
    });
  });
});
