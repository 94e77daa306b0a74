import { expect } from 'chai';
import { clientMetadataDocument, registerClient, registrationWay } from '../../../core/oauth/registration.ts';

const SERVER = { issuer: 'https://as.example', registration_endpoint: 'https://as.example/register' };
const REDIRECT = 'https://valetkey.example/oauth/callback/conn_1';
const DESCRIPTION = { name: 'Valetkey', redirectUri: REDIRECT, scopes: ['read', 'write'] };

describe('Registering as a client of a server found at run time', () => {
  it('uses a client metadata document if the server supports it, else registration, else a manual client', () => {
    const both = { ...SERVER, client_id_metadata_document_supported: true };
    expect(registrationWay(both)).to.equal('metadata_document');
    expect(registrationWay(SERVER)).to.equal('dynamic');
    expect(registrationWay({ issuer: SERVER.issuer })).to.equal('manual');
  });

  it('has a metadata document with its own URL as the client id, and no secret', () => {
    const id = 'https://valetkey.example/oauth/client/conn_1';
    expect(clientMetadataDocument(id, { ...DESCRIPTION, homepage: 'https://valetkey.example/' })).to.deep.equal({
      client_id: id,
      client_name: 'Valetkey',
      client_uri: 'https://valetkey.example/',
      redirect_uris: [REDIRECT],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'read write',
    });
  });

  describe('by registration (RFC 7591)', () => {
    async function register(body: unknown, status = 201, redirectUri = REDIRECT) {
      const sent: { url: string; body: unknown; redirect: unknown }[] = [];
      const outcome = await registerClient({
        server: SERVER,
        description: { ...DESCRIPTION, redirectUri },
        fetchFor: () => async (url, init) => {
          sent.push({ url: String(url), body: JSON.parse(String(init?.body)), redirect: init?.redirect });
          return Response.json(body, { status });
        },
        now: Date.now,
      });
      return { outcome, sent };
    }

    const client = async (body: unknown) => {
      const { outcome } = await register(body);
      if (!outcome.ok) return outcome.kind;
      const { secret, ...rest } = outcome.client;
      return { ...rest, secret: secret?.reveal() ?? null };
    };

    it('requests a public client with one redirect URI', async () => {
      const { sent } = await register({ client_id: 'c' });
      expect(sent).to.have.length(1);
      expect(sent[0]).to.deep.include({ url: SERVER.registration_endpoint, redirect: 'manual' });
      expect(sent[0]?.body).to.deep.include({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' });
    });

    for (const [redirectUri, type] of [
      [REDIRECT, 'web'],
      ['https://localhost.example/oauth/callback/conn_1', 'web'],
      ['http://127.0.0.1:8080/oauth/callback/conn_1', 'native'],
      ['http://[::1]:8080/oauth/callback/conn_1', 'native'],
      ['http://localhost:8080/oauth/callback/conn_1', 'native'],
    ] as const) {
      it(`X10: names the application type ${type} for ${redirectUri}`, async () => {
        const { sent } = await register({ client_id: 'c' }, 201, redirectUri);
        expect(sent[0]?.body).to.deep.include({ application_type: type, redirect_uris: [redirectUri] });
        expect(clientMetadataDocument('https://v.example/c', { ...DESCRIPTION, redirectUri })).to.include({
          application_type: type,
        });
      });
    }

    it('accepts the client as the server registered it', async () => {
      const none = { clientId: 'c', method: 'none', secret: null, secretExpiresAt: null };
      expect(await client({ client_id: 'c' })).to.deep.equal(none);
      expect(await client({ client_id: 'c', token_endpoint_auth_method: 'none', client_secret: 's' })).to.deep.equal(
        none,
      );
      const withSecret = { client_id: 'c', client_secret: 's', client_secret_expires_at: 1_900_000_000 };
      expect(await client(withSecret)).to.deep.equal({
        clientId: 'c',
        method: 'client_secret_basic',
        secret: 's',
        secretExpiresAt: 1_900_000_000_000,
      });
      const post = { ...withSecret, client_secret_expires_at: 0, token_endpoint_auth_method: 'client_secret_post' };
      expect(await client(post)).to.include({ method: 'client_secret_post', secretExpiresAt: null });
      const late = await client({ ...withSecret, client_secret_expires_at: 1e300 });
      expect(new Date((late as { secretExpiresAt: number }).secretExpiresAt).getTime()).to.equal(8.64e15);
    });

    it('rejects a response that cannot be used', async () => {
      const cases: unknown[] = [
        {},
        [],
        { client_id: '' },
        { client_id: 7 },
        { client_id: 'a\r\nb' },
        { client_id: 'c', redirect_uris: ['https://evil.example/cb'] },
        { client_id: 'c', token_endpoint_auth_method: 'tls_client_auth' },
        { client_id: 'c', token_endpoint_auth_method: 'client_secret_post' },
        { client_id: 'c', client_secret: '\ud800' },
        { client_id: 'c', client_secret: 's'.repeat(5_000) },
      ];
      for (const body of cases) expect(await client(body), JSON.stringify(body)).to.equal('unusable');
    });

    it('reports the rejection of the server in a fixed text', async () => {
      const { outcome } = await register({ error: 'invalid_client_metadata', error_description: '<b>' }, 400);
      expect(outcome).to.include({ ok: false, kind: 'unexpected' });
      expect(JSON.stringify(outcome)).not.to.contain('<b>');
      expect((await register({}, 503)).outcome).to.include({ kind: 'unavailable' });
    });
  });
});
