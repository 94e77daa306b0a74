import { generateKeyPairSync, verify } from 'node:crypto';
import { expect } from 'chai';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import type { ClientAuthMethod } from '../../../core/oauth/client-auth.ts';
import { OAuthConfigError } from '../../../core/oauth/config-error.ts';
import { refreshTokenGrant } from '../../../core/oauth/grants/refresh-token.ts';
import type { RefreshOutcome } from '../../../core/oauth/refresh-outcome.ts';
import { Secret } from '../../../core/secret.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { tokenServerOf } from './token-servers.ts';

const AT = 1_750_000_000_000;

interface Sent {
  url: string;
  headers: Headers;
  body: string;
  form: Record<string, string>;
  redirect: string | undefined;
}

/** Sends one refresh and returns the request; undefined if nothing was sent. */
async function send(
  config: OAuthConfig,
  client: { method?: ClientAuthMethod; secret?: string | null; clientId?: string } = {},
): Promise<{ outcome: RefreshOutcome; sent: Sent | undefined }> {
  const sent: Sent[] = [];
  const secret = client.secret === undefined ? 's3cret' : client.secret;
  const outcome = await refreshTokenGrant({
    server: tokenServerOf({ token_uri: 'https://as.example/token', ...config }),
    client: {
      clientId: client.clientId ?? 'app',
      method: client.method ?? 'client_secret_basic',
      secret: secret === null ? null : new Secret(secret),
    },
    refreshToken: new Secret('rt-1'),
    now: () => AT,
    fetch: async (url, init) => {
      const body = String(init?.body);
      const form = Object.fromEntries(new URLSearchParams(body));
      sent.push({ url: String(url), headers: new Headers(init?.headers), body, form, redirect: init?.redirect });
      return Response.json({ access_token: 'at' });
    },
  });
  return { outcome, sent: sent[0] };
}

describe('the request of a refresh (RFC 6749 §6)', () => {
  it('contains the refresh token, and the client in the header', async () => {
    const { sent } = await send({});
    expect(sent?.url).to.equal('https://as.example/token');
    expect(sent?.form).to.deep.equal({ grant_type: 'refresh_token', refresh_token: 'rt-1' });
    expect(sent?.headers.get('authorization')).to.equal(`Basic ${btoa('app:s3cret')}`);
    expect(sent?.headers.get('content-type')).to.equal('application/x-www-form-urlencoded;charset=UTF-8');
    expect(sent?.headers.get('accept')).to.equal('application/json');
    expect(sent?.redirect).to.equal('manual');
  });

  it('does not name the HTTP library', async () => {
    expect((await send({})).sent?.headers.has('user-agent')).to.equal(false);
  });

  it('encodes special characters in Basic credentials before it joins them (RFC 6749 §2.3.1)', async () => {
    const { sent } = await send({}, { clientId: 'a:b', secret: 'p:w+ ü' });
    const [, pair = ''] = sent?.headers.get('authorization')?.split(' ') ?? [];
    expect(atob(pair)).to.equal('a%3Ab:p%3Aw%2B+%C3%BC');
  });

  it('contains the client in the body if the provider requires it', async () => {
    const { sent } = await send({}, { method: 'client_secret_post' });
    expect(sent?.form).to.deep.include({ client_id: 'app', client_secret: 's3cret' });
    expect(sent?.headers.has('authorization')).to.equal(false);
  });

  it('contains no secret for a public client', async () => {
    const { sent } = await send({}, { method: 'none', secret: null });
    expect(sent?.form).to.deep.equal({ client_id: 'app', grant_type: 'refresh_token', refresh_token: 'rt-1' });
    expect(sent?.headers.has('authorization')).to.equal(false);
  });

  it('is JSON if the provider requires it, with the client in the header', async () => {
    const { sent } = await send({ token_request_format: 'json' });
    expect(sent?.headers.get('content-type')).to.equal('application/json');
    expect(JSON.parse(sent?.body ?? '')).to.deep.equal({ grant_type: 'refresh_token', refresh_token: 'rt-1' });
    expect(sent?.headers.get('authorization')).to.equal(`Basic ${btoa('app:s3cret')}`);
  });

  it('includes extra parameters, none of which replaces one of the protocol', async () => {
    const extra = {
      audience: 'api.example',
      expires_in: '3600',
      grant_type: 'password',
      refresh_token: 'theirs',
      client_id: 'theirs',
      client_secret: 'theirs',
      client_assertion: 'theirs',
    };
    for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
      const { sent } = await send({ extra_token_params: extra }, { method });
      expect(sent?.form).to.deep.include({ audience: 'api.example', expires_in: '3600', refresh_token: 'rt-1' });
      expect(JSON.stringify(sent?.form)).not.to.contain('theirs');
    }
  });

  it('keeps the slash at the end of a token endpoint', () => {
    const address = (template: string) => template.replace(/\/$/, '');
    expect(tokenServerOf({ token_uri: 'https://as.example/token/' }, address).tokenEndpoint.href).to.equal(
      'https://as.example/token/',
    );
  });

  it('is never sent over plain http', async () => {
    const thrown = await send({ token_uri: 'http://as.example/token' }).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(OAuthConfigError);
  });

  it('is not sent if a value of the client is missing', async () => {
    for (const secret of [null, '']) {
      for (const method of ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const) {
        const { outcome, sent } = await send({}, { method, secret });
        expect(sent).to.equal(undefined);
        expect(outcome).to.include({ ok: false, kind: 'client' });
      }
    }
    expect(() => tokenServerOf({ issuer: 'https://as.example' })).to.throw(OAuthConfigError);
  });

  describe('signed by the client (RFC 7523)', () => {
    const rsa = rsaPair('client');
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const jwk = (key: object, more: object) => JSON.stringify({ ...key, ...more });
    const pem = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const keys: [title: string, secret: string, alg: string, kid: string | undefined][] = [
      ['an RSA key in PEM', pem, 'RS256', undefined],
      [
        'a JWK that says RS384',
        jwk(rsa.privateKey.export({ format: 'jwk' }), { alg: 'RS384', kid: 'k1' }),
        'RS384',
        'k1',
      ],
      ['a P-384 key', ec.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 'ES384', undefined],
    ];
    for (const [title, secret, alg, kid] of keys) {
      it(`with ${title}`, async () => {
        const issuer = 'https://issuer.example';
        const { sent } = await send({ issuer }, { method: 'private_key_jwt', secret });
        const assertion = sent?.form['client_assertion'] ?? '';
        const [header = '', payload = '', signature = ''] = assertion.split('.');
        const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
        expect(decode(header)).to.include({ alg, ...(kid && { kid }) });
        const at = AT / 1000;
        expect(decode(payload)).to.include({ iss: 'app', sub: 'app', aud: issuer, iat: at, nbf: at, exp: at + 60 });
        const { publicKey } = alg.startsWith('ES') ? ec : rsa;
        const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
        const signed = Buffer.from(`${header}.${payload}`);
        expect(verify(`sha${alg.slice(2)}`, signed, key, Buffer.from(signature, 'base64url'))).to.equal(true);
        expect(sent?.form['client_assertion_type']).to.match(/jwt-bearer$/);
      });
    }

    it('has the token endpoint as its audience if the issuer is unknown', async () => {
      const { sent } = await send({}, { method: 'private_key_jwt', secret: pem });
      const payload = Buffer.from(sent?.form['client_assertion']?.split('.')[1] ?? '', 'base64url').toString();
      expect(JSON.parse(payload).aud).to.equal('https://as.example/token');
    });

    it('has the audience that the provider requires (Revolut)', async () => {
      const config = { issuer: 'https://issuer.example', token: { assertion_audience: 'https://bank.example' } };
      const { sent } = await send(config, { method: 'private_key_jwt', secret: pem });
      const payload = Buffer.from(sent?.form['client_assertion']?.split('.')[1] ?? '', 'base64url').toString();
      expect(JSON.parse(payload).aud).to.equal('https://bank.example');
    });

    it('is not sent with an invalid key, and the error contains nothing of it', async () => {
      const weird = jwk(rsa.privateKey.export({ format: 'jwk' }), { alg: 'HS256' });
      for (const secret of ['s3cret', '{"kty":"RSA"}', '{s3cret', weird]) {
        const { outcome, sent } = await send({}, { method: 'private_key_jwt', secret });
        expect(sent).to.equal(undefined);
        expect(outcome).to.include({ ok: false, kind: 'client' });
        expect(JSON.stringify(outcome)).not.to.contain('s3cret');
      }
    });
  });
});
