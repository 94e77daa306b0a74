import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect } from 'chai';
import { type IdTokenCheck, verifyIdToken } from '../../../core/oauth/id-token.ts';
import { rsaPair } from '../../support/rsa-pair.ts';

const AT = 1_750_000_000_000;
const NOW_S = AT / 1000;
const ISSUER = 'https://as.example';
const rsa = rsaPair('issuer');
const other = rsaPair('stranger');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = (key: KeyObject, more: object) => ({ ...key.export({ format: 'jwk' }), use: 'sig', ...more });
const JWKS = { keys: [jwk(rsa.publicKey, { kid: 'r', alg: 'RS256' }), jwk(ec.publicKey, { kid: 'e', alg: 'ES256' })] };
const CLAIMS = { iss: ISSUER, aud: 'app', sub: 'alice', nonce: 'n', iat: NOW_S, exp: NOW_S + 300 };

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function token(claims: object, header: object = { alg: 'RS256', kid: 'r' }, key: KeyObject = rsa.privateKey): string {
  const text = `${part(header)}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

async function check(idToken: string, more: Partial<IdTokenCheck> = {}, algorithms?: string[], keys: unknown = JWKS) {
  const metadata = {
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/jwks`,
    ...(algorithms && { id_token_signing_alg_values_supported: algorithms }),
  };
  const fetch = async () => Response.json(keys);
  return verifyIdToken({ idToken, metadata, clientId: 'app', nonce: 'n', fetch, now: () => AT, ...more });
}

describe('An id_token (OpenID Connect Core §3.1.3.7)', () => {
  it('of the issuer, for this client and this request, is accepted', async () => {
    expect(await check(token(CLAIMS))).to.deep.equal({ ok: true, claims: CLAIMS });
    const es256 = token(CLAIMS, { alg: 'ES256', kid: 'e' }, ec.privateKey);
    expect(await check(es256, {}, ['ES256', 'none'])).to.include({ ok: true });
    expect(await check(token({ ...CLAIMS, aud: ['app', 'b'], azp: 'app' }))).to.include({ ok: true });
  });

  describe('is rejected', () => {
    const hmac = (() => {
      const text = `${part({ alg: 'HS256' })}.${part(CLAIMS)}`;
      const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;
      return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    })();
    const { nonce: _nonce, ...withoutNonce } = CLAIMS;
    const { exp: _exp, ...withoutEnd } = CLAIMS;
    const cases: [title: string, idToken: string, algorithms?: string[]][] = [
      ['from another issuer', token({ ...CLAIMS, iss: 'https://evil.example' })],
      ['from the issuer with a slash more', token({ ...CLAIMS, iss: `${ISSUER}/` })],
      ['for another client', token({ ...CLAIMS, aud: 'other' })],
      ['for several clients when it does not say whom it was made for', token({ ...CLAIMS, aud: ['app', 'other'] })],
      ['made for another client', token({ ...CLAIMS, aud: ['app', 'other'], azp: 'other' })],
      ['of another request', token({ ...CLAIMS, nonce: 'x' })],
      ['without the nonce', token(withoutNonce)],
      ['that has ended', token({ ...CLAIMS, exp: NOW_S - 61 })],
      ['that has not begun', token({ ...CLAIMS, nbf: NOW_S + 61 })],
      ['of the future', token({ ...CLAIMS, iat: NOW_S + 3600 })],
      ['without an end', token(withoutEnd)],
      ['signed by another key', token(CLAIMS, { alg: 'RS256', kid: 'r' }, other.privateKey)],
      ['signed by a key that is not published', token(CLAIMS, { alg: 'RS256', kid: 'x' })],
      ['unsigned', `${part({ alg: 'none' })}.${part(CLAIMS)}.`, ['none', 'RS256']],
      ['signed with the public key as a shared secret', hmac, ['HS256', 'RS256']],
      [
        'signed by an algorithm that the issuer does not name',
        token(CLAIMS, { alg: 'ES256', kid: 'e' }, ec.privateKey),
      ],
      ['with a header that must be understood', token(CLAIMS, { alg: 'RS256', kid: 'r', crit: ['x'], x: 1 })],
      ['of five parts', 'a.b.c.d.e'],
      ['that is none', 'x'],
    ];
    for (const [title, idToken, algorithms] of cases) {
      it(title, async () => expect(await check(idToken, {}, algorithms)).to.include({ ok: false }));
    }

    it('with a subject that was changed', async () => {
      const [header, , signature] = token(CLAIMS).split('.');
      const forged = `${header}.${part({ ...CLAIMS, sub: 'mallory' })}.${signature}`;
      expect(await check(forged)).to.include({ ok: false });
    });

    it("when the server's keys are invalid", async () => {
      for (const keys of [
        {},
        { keys: {} },
        { keys: [{ kty: 'RSA', kid: 'r', alg: 'RS256', n: '!', e: 'AQAB' }] },
        [],
      ]) {
        expect(await check(token(CLAIMS), {}, undefined, keys), JSON.stringify(keys)).to.include({ ok: false });
      }
    });
  });

  it('is checked with the clock of the provider', async () => {
    expect(await check(token(CLAIMS), { now: () => AT + 359_000 })).to.include({ ok: true });
    expect(await check(token(CLAIMS), { now: () => AT + 361_000 })).to.include({ ok: false });
  });

  it('is not checked when the keys are unavailable', async () => {
    const failure = Object.assign(new Error('Silence.'), { kind: 'timeout', sent: true });
    const thrown = await check(token(CLAIMS), { fetch: () => Promise.reject(failure) }).catch(
      (error: unknown) => error,
    );
    expect(thrown).to.equal(failure);
  });
});
