import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AuthorizationServer } from 'oauth4webapi';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { readAccountFacts } from '../../../core/oauth/account-facts.ts';
import type { KeptAuthorization } from '../../../core/oauth/authorization-request.ts';
import { beginAuthorization, type StartedAuthorization } from '../../../core/oauth/begin-authorization.ts';
import type { ClientCredentials } from '../../../core/oauth/client-auth.ts';
import { createDiscovery } from '../../../core/oauth/discovery.ts';
import { type Finished, finishAuthorization } from '../../../core/oauth/grants/authorization-code.ts';
import { clientCredentialsGrant } from '../../../core/oauth/grants/client-credentials.ts';
import { refreshTokenGrant } from '../../../core/oauth/grants/refresh-token.ts';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';
import { registerClient, registrationWay } from '../../../core/oauth/registration.ts';
import { revokeTokens } from '../../../core/oauth/revocation.ts';
import { tokenServerAt } from '../../../core/oauth/server.ts';
import { Secret } from '../../../core/secret.ts';
import { grantedBy } from '../../support/oauth-flow.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { closeAll } from '../net/local.ts';
import {
  type ConsentServer,
  ISSUER,
  REDIRECT_URI,
  RESOURCE,
  SECRET,
  SIGNING_KEY,
  startConsentServer,
} from './consent-server.ts';

const SCOPES = ['openid', 'email', 'offline_access'];
/** Contains only the issuer; everything else is discovered. */
const CONFIG: OAuthConfig = {
  issuer: ISSUER,
  extra_authorize_params: { prompt: 'consent' },
  identity: { subject: ['/id_token/sub'], identifiers: ['/identity/email'], call: { uri: `${ISSUER}/me` } },
};

describe('A strict authorization server', () => {
  let server: ConsentServer;
  let metadata: AuthorizationServer;

  before(async () => {
    server = await startConsentServer();
    const { fetchFor } = server;
    const found = await createDiscovery(Date.now).discover({ issuer: ISSUER, partition: 'env_1', fetchFor });
    if (!found.ok) throw new Error(found.message);
    metadata = found.metadata;
  });
  after(closeAll);

  function clientOf(clientId: string, more: Partial<ClientCredentials> = {}): ClientCredentials {
    return { clientId, method: 'client_secret_basic', secret: new Secret(SECRET), ...more };
  }
  const signing = (clientId: string, secret = SIGNING_KEY) =>
    clientOf(clientId, { method: 'private_key_jwt', secret: new Secret(secret) });

  function partsOf(client: ClientCredentials, config: OAuthConfig = CONFIG) {
    const provider = oauthProviderOf({ type: 'OAUTH', oauth_config: config }, {}, { metadata });
    return { provider, client, fetchFor: server.fetchFor, now: Date.now };
  }

  function begin(client: ClientCredentials, config?: OAuthConfig, scopes = SCOPES): Promise<StartedAuthorization> {
    const parts = partsOf(client, config);
    return beginAuthorization({ ...parts, redirectUri: REDIRECT_URI, scopes, random: randomBytes });
  }

  async function started(client: ClientCredentials, config?: OAuthConfig) {
    const begun = await begin(client, config);
    if (!begun.ok) throw new Error(begun.message);
    const { searchParams: parameters } = await server.consent(begun.url);
    return { kept: begun.kept, parameters };
  }

  function finish(
    client: ClientCredentials,
    parameters: URLSearchParams,
    kept: KeptAuthorization,
    config?: OAuthConfig,
  ) {
    return finishAuthorization({ ...partsOf(client, config), parameters, kept });
  }

  async function run(client: ClientCredentials, config?: OAuthConfig): Promise<Finished> {
    const { kept, parameters } = await started(client, config);
    return finish(client, parameters, kept, config);
  }

  it('is found by its issuer, and its metadata state its capabilities', () => {
    expect(metadata).to.include({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/auth`,
      token_endpoint: `${ISSUER}/token`,
      authorization_response_iss_parameter_supported: true,
    });
  });

  describe('refuses', () => {
    const basic = clientOf('basic');

    it('a request without PKCE', async () => {
      const begun = await begin(basic, { ...CONFIG, pkce: 'none' });
      const { searchParams } = await server.consent(begun.ok ? begun.url : '');
      expect(searchParams.get('error')).to.equal('invalid_request');
    });

    it('the verifier of another flow (RFC 7636 §4.6), after which the code is invalid', async () => {
      const { kept, parameters } = await started(basic);
      const wrong = { ...kept, codeVerifier: randomBytes(32).toString('base64url') };
      expect(await finish(basic, parameters, wrong)).to.include({ ok: false, kind: 'code_rejected' });
    });

    it('a code that was redeemed before, and revokes the tokens issued for it', async () => {
      const { kept, parameters } = await started(basic);
      const { access } = grantedBy(await finish(basic, parameters, kept));
      expect(await server.isAlive(access)).to.equal(true);
      expect(await finish(basic, parameters, kept)).to.include({ ok: false, kind: 'code_rejected' });
      expect(await server.isAlive(access)).to.equal(false);
    });

    it('a code of another client', async () => {
      const { kept, parameters } = await started(basic);
      const other = clientOf('other');
      const stolen = await finish(other, parameters, { ...kept, clientId: 'other' });
      expect(stolen).to.include({ ok: false, kind: 'code_rejected' });
    });

    it('a code that was asked for with another redirect address', async () => {
      const { kept, parameters } = await started(basic);
      const outcome = await finish(basic, parameters, { ...kept, redirectUri: `${REDIRECT_URI}2` });
      expect(outcome).to.include({ ok: false, kind: 'code_rejected' });
    });

    it('a wrong secret', async () => {
      const { kept, parameters } = await started(basic);
      const wrong = clientOf('basic', { secret: new Secret('wrong') });
      expect(await finish(wrong, parameters, kept)).to.include({ ok: false, kind: 'client' });
    });

    it('an assertion that was made for another server (P7, RFC 10070)', async () => {
      const { kept, parameters } = await started(signing('signing'));
      const elsewhere = { ...CONFIG, token: { assertion_audience: 'https://evil.example' } };
      expect(await finish(signing('signing'), parameters, kept, elsewhere)).to.include({ ok: false, kind: 'client' });
    });
  });

  it('receives no code of another state, and codes of two flows cannot be swapped (L8)', async () => {
    const basic = clientOf('basic');
    const [first, second] = [await started(basic), await started(basic)];
    const before = server.requests('/token');
    expect(await finish(basic, second.parameters, first.kept)).to.include({ ok: false, kind: 'state_mismatch' });
    expect(server.requests('/token')).to.equal(before);
    // With the right state, the proof key still does not match.
    const swapped = new URLSearchParams(second.parameters);
    swapped.set('state', first.kept.state);
    expect(await finish(basic, swapped, first.kept)).to.include({ ok: false, kind: 'code_rejected' });
  });

  it('names itself in the callback, and without its name no code is redeemed (L9, RFC 9207)', async () => {
    const basic = clientOf('basic');
    const { kept, parameters } = await started(basic);
    expect(parameters.get('iss')).to.equal(ISSUER);
    const without = new URLSearchParams(parameters);
    without.delete('iss');
    expect(await finish(basic, without, kept)).to.include({ ok: false, kind: 'issuer_mismatch' });
    expect(await finish(basic, parameters, kept)).to.include({ ok: true });
  });

  describe('grants', () => {
    const clients: ClientCredentials[] = [
      clientOf('basic'),
      clientOf('post', { method: 'client_secret_post' }),
      clientOf('public', { method: 'none', secret: null }),
      signing('signing'),
    ];
    for (const client of clients) {
      it(`tokens to a client that authenticates by ${client.method}, and new ones for them`, async () => {
        const outcome = await run(client);
        const tokens = grantedBy(outcome);
        expect(tokens.scopes).to.have.members(SCOPES);
        expect(await server.isAlive(tokens.access)).to.equal(true);
        const tokenServer = tokenServerAt(partsOf(client).provider);
        const refreshToken = new Secret(tokens.refresh ?? '');
        const fetch = await server.fetchFor([ISSUER]);
        const grant = { server: tokenServer, client, refreshToken, fetch, now: Date.now };
        expect(grantedBy(await refreshTokenGrant(grant)).refresh).not.to.equal(tokens.refresh);
      });
    }

    it('tokens for one resource (RFC 8707)', async () => {
      const client = clientOf('basic');
      const config = { ...CONFIG, resource: RESOURCE, available_scopes: [] };
      expect(await run(client, config)).to.include({ ok: true });
    });
  });

  it('an id_token and a userinfo response that identify the user', async () => {
    const client = clientOf('basic');
    const { kept, parameters } = await started(client);
    const granted = await finish(client, parameters, kept);
    if (!granted.ok) throw new Error(granted.message);
    const { accessToken } = granted.tokens;
    const facts = { ...partsOf(client), accessToken, answer: granted.answer };
    expect(await readAccountFacts({ ...facts, nonce: kept.nonce })).to.deep.include({
      ok: true,
      subject: 'alice',
      identifierCandidates: ['alice@b.example'],
    });
    expect(await readAccountFacts({ ...facts, nonce: 'of another flow' })).to.include({
      ok: false,
      kind: 'unidentified',
    });
  });

  describe('that requires pushed requests (RFC 9126)', () => {
    it('refuses a request that was not pushed', async () => {
      const begun = await begin(clientOf('pushing'));
      const refused = await server.consent(begun.ok ? begun.url : '').then(
        ({ searchParams }) => searchParams.get('error'),
        (error: Error) => error.message,
      );
      expect(refused).to.match(/invalid_request|Pushed/);
    });

    it("accepts a pushed request, and the browser's address contains nothing of it", async () => {
      const config = { ...CONFIG, authorization: { pushed_uri: `${ISSUER}/request` } };
      const client = clientOf('pushing');
      const begun = await begin(client, config);
      if (!begun.ok) throw new Error(begun.message);
      expect([...new URL(begun.url).searchParams.keys()]).to.deep.equal(['client_id', 'request_uri']);
      const { searchParams } = await server.consent(begun.url);
      expect(await finish(client, searchParams, begun.kept, config)).to.include({ ok: true });
    });

    it('receives pushed requests without a setting, when its metadata require them', async () => {
      const parts = partsOf(clientOf('pushing'));
      const asking = { ...metadata, require_pushed_authorization_requests: true };
      const provider = oauthProviderOf({ type: 'OAUTH', oauth_config: CONFIG }, {}, { metadata: asking });
      const start = { ...parts, provider, redirectUri: REDIRECT_URI, scopes: SCOPES, random: randomBytes };
      const begun = await beginAuthorization(start);
      expect(begun.ok && begun.url).to.contain('request_uri=urn');
    });

    it('refuses the push of a client with a wrong secret', async () => {
      const config = { ...CONFIG, authorization: { pushed_uri: `${ISSUER}/request` } };
      const wrong = clientOf('pushing', { secret: new Secret('wrong') });
      expect(await begin(wrong, config)).to.include({ ok: false, kind: 'client' });
    });
  });

  describe('gives a machine client', () => {
    const ask = (client: ClientCredentials, scopes: string[] = []) =>
      clientCredentialsGrant({ ...partsOf(client, { ...CONFIG, resource: RESOURCE }), scopes });

    it('nothing for a wrong secret or key, and nothing to a client for users', async () => {
      const otherKey = rsaPair('stranger').privateKey;
      const forged = otherKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      const refused = [
        ask(clientOf('machine', { secret: new Secret('wrong') })),
        ask(signing('signing-machine', forged)),
        ask(clientOf('basic')),
      ];
      for (const outcome of await Promise.all(refused)) expect(outcome).to.include({ ok: false, kind: 'client' });
    });

    it('no more scopes than it may have', async () => {
      expect(grantedBy(await ask(clientOf('machine'), ['read', 'admin'])).scopes).to.deep.equal(['read']);
    });

    for (const client of [clientOf('machine'), signing('signing-machine')]) {
      it(`a token by ${client.method}, with the requested scopes`, async () => {
        const before = Date.now();
        const tokens = grantedBy(await ask(client, ['read']));
        expect(tokens).to.deep.include({ refresh: null, scopes: ['read'] });
        expect(tokens.expiresAt).to.be.within(before + 599_000, Date.now() + 601_000);
        expect(await server.isAlive(tokens.access)).to.equal(true);
      });
    }
  });

  it('revokes a token for its own client, and not for another one', async () => {
    const client = clientOf('basic');
    const outcome = await run(client);
    const { access } = grantedBy(outcome);
    if (!outcome.ok) throw new Error(outcome.message);
    const { accessToken, refreshToken } = outcome.tokens;
    const fetch = await server.fetchFor([ISSUER]);
    const revoke = (by: ClientCredentials) => revokeTokens({ ...partsOf(by), accessToken, refreshToken, fetch });
    expect(await revoke(clientOf('basic', { secret: new Secret('wrong') }))).to.include({ kind: 'failed' });
    // The server also returns 200 to another client, but does nothing.
    await revoke(clientOf('other'));
    expect(await server.isAlive(access)).to.equal(true);
    expect(await revoke(client)).to.deep.equal({ kind: 'revoked' });
    expect(await server.isAlive(access)).to.equal(false);
    expect(await revoke(client)).to.deep.equal({ kind: 'revoked' });
  });

  it('registers a client, which can then use every grant (RFC 7591)', async () => {
    expect(registrationWay(metadata)).to.equal('dynamic');
    const description = { name: 'Valetkey', redirectUri: REDIRECT_URI, scopes: SCOPES };
    const { fetchFor } = server;
    const registered = await registerClient({ server: metadata, description, fetchFor, now: Date.now });
    if (!registered.ok) throw new Error(registered.message);
    const { client } = registered;
    expect(client).to.include({ method: 'none', secret: null });
    expect(await run(client)).to.include({ ok: true });
  });
});
