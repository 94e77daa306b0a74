import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Egress } from '../../core/net/egress.ts';
import { createEgress } from '../../core/net/egress.ts';
import { EgressPolicy } from '../../core/net/policy.ts';
import {
  type Authorization,
  authorizationUrl,
  requestTemporaryCredentials,
  requestTokenCredentials,
} from '../../core/oauth1/authorization.ts';
import { readCallback } from '../../core/oauth1/callback.ts';
import {
  type OAuth1Token,
  type ParameterPlacement,
  type Signing,
  type SigningRules,
  signRequest,
} from '../../core/oauth1/sign-request.ts';
import type { SignatureMethod } from '../../core/oauth1/signature.ts';
import { Secret } from '../../core/secret.ts';
import type { OutboundRequest } from '../../core/tools/wire.ts';
import { CLIENT, type OAuth1Counterpart, startOAuth1Provider } from './support/oauth1-provider.ts';

const CALLBACK = new URL('https://valetkey.example/oauth/callback/conn_1');
const RULES: SigningRules = { signatureMethod: 'HMAC-SHA1', placement: 'header' };
const HOUR = 3_600_000;

describe('OAuth 1.0a against the provider of oauthlib', () => {
  let provider: OAuth1Counterpart;
  let egress: Egress;

  before(async () => {
    provider = await startOAuth1Provider();
    egress = createEgress(new EgressPolicy({ allow: [{ host: '127.0.0.1', port: provider.port }], overrides: [] }));
  });

  after(async () => {
    await egress?.close();
    await provider?.stop();
  });

  function flow(changes: { rules?: SigningRules; secret?: string; now?: () => number } = {}): Authorization {
    return {
      provider: {
        temporaryEndpoint: new URL('/request_token', provider.origin),
        authorizeEndpoint: new URL('/authorize', provider.origin),
        tokenEndpoint: new URL('/access_token', provider.origin),
        rules: changes.rules ?? RULES,
        authorizeParameters: { name: 'Tests' },
      },
      client: { key: CLIENT.key, secret: new Secret(changes.secret ?? CLIENT.secret) },
      fetch: egress.pinnedFetch([provider.origin]),
      now: changes.now ?? Date.now,
      random: randomBytes,
    };
  }

  async function temporary(of: Authorization = flow()): Promise<OAuth1Token> {
    const outcome = await requestTemporaryCredentials(of, CALLBACK);
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.temporary;
  }

  /** The user opens the page and chooses. @returns the address that the browser is redirected to */
  async function choose(token: OAuth1Token, choice: string): Promise<URL> {
    const url = authorizationUrl(flow().provider, token);
    const page = await fetch(url);
    expect(await page.text()).to.include('Allow');
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ choice }), redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '');
  }

  async function consented(token: OAuth1Token): Promise<string> {
    const callback = readCallback((await choose(token, 'yes')).searchParams, token);
    if (!callback.ok) throw new Error(callback.kind);
    return callback.verifier;
  }

  async function connected(of: Authorization = flow()): Promise<OAuth1Token> {
    const token = await temporary(of);
    const outcome = await requestTokenCredentials(of, token, await consented(token));
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.token;
  }

  function signing(token: OAuth1Token, rules: SigningRules = RULES, now: () => number = Date.now): Signing {
    const { client, random } = flow();
    return { client, token, rules, now, random };
  }

  function call(request: OutboundRequest): Promise<Response> {
    const { url, method, headers, body } = request;
    return fetch(url, { method, headers, ...(body !== undefined && { body }) });
  }

  function apiRequest(query = ''): OutboundRequest {
    return { method: 'GET', url: `${provider.origin}/api${query}`, headers: {}, body: undefined };
  }

  describe('the provider refuses (negative controls)', () => {
    it('a call without a signature', async () => {
      expect((await call(apiRequest())).status).to.equal(401);
    });

    it('a signature by another secret', async () => {
      const token = await connected();
      const forged = { ...signing(token), client: { key: CLIENT.key, secret: new Secret('guessed') } };
      expect((await call(signRequest(apiRequest(), forged))).status).to.equal(401);
      const otherToken = { token: token.token, secret: new Secret('guessed') };
      expect((await call(signRequest(apiRequest(), signing(otherToken)))).status).to.equal(401);
    });

    it('a signature that was made for another query, another body or another method', async () => {
      const token = await connected();
      const signed = signRequest(apiRequest('?amount=1'), signing(token));
      const altered = { ...signed, url: signed.url.replace('amount=1', 'amount=9') };
      expect((await call(altered)).status).to.equal(401);
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const post = { method: 'POST', url: `${provider.origin}/api`, headers: form, body: 'amount=1' };
      expect((await call({ ...signRequest(post, signing(token)), body: 'amount=9' })).status).to.equal(401);
      const signedGet = signRequest(apiRequest(), signing(token));
      expect((await call({ ...signedGet, method: 'POST', body: '' })).status).to.equal(401);
    });

    it('a nonce that was used', async () => {
      const signed = signRequest(apiRequest(), signing(await connected()));
      expect((await call(signed)).status).to.equal(200);
      expect((await call(signed)).status).to.equal(401);
    });

    it('a time in the distant past or future', async () => {
      const token = await connected();
      for (const by of [-HOUR, HOUR]) {
        const signed = signRequest(
          apiRequest(),
          signing(token, RULES, () => Date.now() + by),
        );
        expect((await call(signed)).status).to.equal(401);
      }
    });

    it('a client with another secret, a wrong verifier, a verifier of another flow, an unapproved token', async () => {
      expect(await requestTemporaryCredentials(flow({ secret: 'guessed' }), CALLBACK)).to.include({ kind: 'client' });
      const token = await temporary();
      expect(await requestTokenCredentials(flow(), token, 'guessed-verifier-of-ours')).to.include({ kind: 'refused' });
      const other = await consented(await temporary());
      expect(await requestTokenCredentials(flow(), token, other)).to.include({ kind: 'refused' });
    });

    it('temporary credentials that were exchanged before', async () => {
      const token = await temporary();
      const verifier = await consented(token);
      expect((await requestTokenCredentials(flow(), token, verifier)).ok).to.equal(true);
      expect(await requestTokenCredentials(flow(), token, verifier)).to.include({ ok: false, kind: 'refused' });
    });

    it('a callback that is not registered', async () => {
      const outcome = await requestTemporaryCredentials(flow(), new URL('https://evil.example/callback'));
      expect(outcome).to.include({ ok: false, kind: 'client' });
    });
  });

  it("issues a token after consent, with the user's identity", async () => {
    const token = await temporary();
    const outcome = await requestTokenCredentials(flow(), token, await consented(token));
    expect(outcome).to.deep.include({ ok: true, others: { screen_name: 'maria', oauth_authorized_realms: 'boards' } });
  });

  it('distinguishes a user who declines from one who consents', async () => {
    const token = await temporary();
    const query = (await choose(token, 'no')).searchParams;
    expect(readCallback(query, token)).to.deep.equal({ ok: false, kind: 'refused' });
  });

  it('rejects the callback of another flow', async () => {
    const [mine, attackers] = [await temporary(), await temporary()];
    const query = (await choose(attackers, 'yes')).searchParams;
    expect(readCallback(query, mine)).to.deep.equal({ ok: false, kind: 'mismatch' });
  });

  describe('accepts the signature', () => {
    const methods: SignatureMethod[] = ['HMAC-SHA1', 'HMAC-SHA256'];
    const placements: ParameterPlacement[] = ['header', 'query', 'body'];
    for (const signatureMethod of methods) {
      for (const placement of placements) {
        it(`${signatureMethod} in the ${placement}, from the first request to the call`, async () => {
          const rules = { signatureMethod, placement };
          const token = await connected(flow({ rules }));
          const answer = await call(signRequest(apiRequest('?q=a+b&q=%C3%BC%21*'), signing(token, rules)));
          expect([answer.status, await answer.json()]).to.deep.equal([200, { user: 'maria', body: '' }]);
        });
      }
    }

    it('with a realm', async () => {
      const token = await connected();
      const signed = signRequest(apiRequest(), signing(token, { ...RULES, realm: 'boards' }));
      expect(signed.headers['authorization']).to.match(/^OAuth realm="boards", /);
      expect((await call(signed)).status).to.equal(200);
    });

    it('over a form with every kind of character', async () => {
      const token = await connected();
      const body = new URLSearchParams([
        ['text', "it's (50% off) & more + ~tilde* – ünïcödé 🔑"],
        ['text', ''],
        ['a-b', '1'],
        ['a', '2'],
      ]).toString();
      for (const type of ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8']) {
        const post = { method: 'POST', url: `${provider.origin}/api`, headers: { 'content-type': type }, body };
        for (const placement of placements) {
          const signed = signRequest(post, signing(token, { ...RULES, placement }));
          expect((await call(signed)).status, `${type} ${placement}`).to.equal(200);
        }
      }
    });

    it('beside a JSON body, which it does not cover', async () => {
      const headers = { 'content-type': 'application/json' };
      const post = { method: 'POST', url: `${provider.origin}/api`, headers, body: '{"a":"1&b=2"}' };
      const signed = signRequest(post, signing(await connected()));
      expect(await (await call(signed)).json()).to.deep.equal({ user: 'maria', body: '{"a":"1&b=2"}' });
    });
  });

  it('issues credentials to a client with a wrong clock, by the time that the provider states', async () => {
    for (const by of [-HOUR, HOUR]) {
      const token = await connected(flow({ now: () => Date.now() + by }));
      expect((await call(signRequest(apiRequest(), signing(token)))).status).to.equal(200);
    }
  });

  it('receives no secret in any request', async () => {
    const signed = signRequest(apiRequest(), signing(await connected()));
    expect(JSON.stringify(signed)).not.to.match(/client secret|client%20secret/);
    expect(signed.headers['authorization']).to.include('oauth_signature="');
  });
});
