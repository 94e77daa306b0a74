import { createHmac, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  issueAccessToken,
  type TokenFault,
  verificationKeys,
  verifyAccessToken,
} from '../../../core/tokens/access-token.ts';
import { generateSigningKey, jwksDocument } from '../../../core/tokens/signing-key.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { EXPECTED, FACTS, issue, keys, NOW, seededRandom, signingKeys } from './support.ts';

const key = signingKeys.current;
const HEADER = { alg: 'ES256', typ: 'at+jwt', kid: key.kid };
const iat = NOW / 1000;
const CLAIMS = {
  iss: EXPECTED.issuer,
  aud: EXPECTED.audience,
  sub: 'cli_a',
  client_id: 'cli_a',
  scope: 'accounts:read',
  iat,
  exp: iat + 3600,
  jti: 'id',
  env: 'env_a',
  gen: 3,
};

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Creates a token that is signed as a JWS with ES256, with any header. */
function forge(header: unknown, claims: unknown, privateKey: KeyObject = key.privateKey): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function outcome(text: string, now = NOW, expected = EXPECTED): TokenFault | 'accepted' {
  const verification = verifyAccessToken(text, keys, expected, now);
  return verification.ok ? 'accepted' : verification.reason;
}

describe('an issued access token', () => {
  it('contains the claims that RFC 9068 requires, and the environment and generation', () => {
    const [header = '', payload = ''] = issue().split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).to.deep.equal(HEADER);
    const { jti, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(jti).to.match(/^[A-Za-z0-9_-]{22}$/);
    expect(claims).to.deep.equal({
      iss: EXPECTED.issuer,
      aud: EXPECTED.audience,
      sub: 'cli_a',
      client_id: 'cli_a',
      scope: 'accounts:read tools:execute',
      iat,
      exp: iat + 3600,
      env: 'env_a',
      gen: 3,
    });
  });

  it('can be verified by anyone with the JWKS document', () => {
    const [header, payload, signature = ''] = issue().split('.');
    const [jwk] = jwksDocument(signingKeys).keys;
    const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const input = Buffer.from(`${header}.${payload}`);
    expect(
      verify('sha256', input, { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')),
    ).to.equal(true);
  });

  it('returns its claims after verification', () => {
    const verification = verifyAccessToken(issue(), keys, EXPECTED, NOW);
    expect(verification.ok && verification.token).to.deep.include({
      clientId: 'cli_a',
      environmentId: 'env_a',
      generation: 3,
      scopes: ['accounts:read', 'tools:execute'],
      issuedAt: NOW,
      expiresAt: NOW + 3_600_000,
    });
  });

  it('has claims that none of several callers can change (C14)', () => {
    const verification = verifyAccessToken(issue(), keys, EXPECTED, NOW);
    if (!verification.ok) throw new Error(verification.reason);
    expect(() => Object.assign(verification.token, { generation: 4 })).to.throw(TypeError);
    expect(() => (verification.token.scopes as string[]).push('admin')).to.throw(TypeError);
  });

  it('is accepted under the previous key until that key is removed', () => {
    const text = issue({}, NOW, signingKeys.previous);
    expect(outcome(text)).to.equal('accepted');
    const after = verifyAccessToken(text, verificationKeys({ current: key }), EXPECTED, NOW);
    expect(after).to.deep.equal({ ok: false, reason: 'header' });
  });

  it('is valid for an hour at most (T5)', () => {
    for (const lifetime of [0, -1, 3601, Number.NaN]) {
      expect(() => issueAccessToken(key, FACTS, NOW, seededRandom(), lifetime), `${lifetime}`).to.throw(RangeError);
    }
  });

  it('is accepted for any client, environment and generation', () => {
    const text = fc.string({ minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(text, text, fc.maxSafeNat(), (clientId, environmentId, generation) => {
        const verification = verifyAccessToken(issue({ clientId, environmentId, generation }), keys, EXPECTED, NOW);
        if (!verification.ok) return false;
        const { token } = verification;
        return token.clientId === clientId && token.environmentId === environmentId && token.generation === generation;
      }),
      { numRuns: 30 },
    );
  });
});

describe('times of an access token', () => {
  const text = issue();
  for (const [name, now, expected] of [
    ['at its issue', NOW, 'accepted'],
    ['29 s before its issue, by a clock that lags', NOW - 29_000, 'accepted'],
    ['31 s before its issue', NOW - 31_000, 'not_yet_valid'],
    ['in the last millisecond', NOW + 3_599_999, 'accepted'],
    ['at its end, without any leeway', NOW + 3_600_000, 'expired'],
    ['long after', NOW * 2, 'expired'],
    ['in 1970', 0, 'not_yet_valid'],
  ] as const) {
    it(`${expected}: ${name}`, () => expect(outcome(text, now)).to.equal(expected));
  }
});

describe('an access token that the server did not issue (T4)', () => {
  const stranger = generateSigningKey();
  const rsa = rsaPair('issuer');
  const publicPem = key.publicKey.export({ type: 'spki', format: 'pem' });
  const input = (header: unknown) => `${encode(header)}.${encode(CLAIMS)}`;
  const hmac = (header: unknown, secret: string | Buffer) => {
    return `${input(header)}.${createHmac('sha256', secret).update(input(header)).digest('base64url')}`;
  };
  const rs256 = (header: unknown) => {
    return `${input(header)}.${sign('sha256', Buffer.from(input(header)), rsa.privateKey).toString('base64url')}`;
  };
  const good = forge(HEADER, CLAIMS);
  const [head = '', body = '', signature = ''] = good.split('.');

  it('is accepted when it is created correctly (control)', () => expect(outcome(good)).to.equal('accepted'));

  const table: [string, string, TokenFault][] = [
    ['alg none, no signature', `${input({ ...HEADER, alg: 'none' })}.`, 'malformed'],
    ['alg none, our signature', forge({ ...HEADER, alg: 'none' }, CLAIMS), 'header'],
    ['alg None', forge({ ...HEADER, alg: 'None' }, CLAIMS), 'header'],
    ['alg es256', forge({ ...HEADER, alg: 'es256' }, CLAIMS), 'header'],
    ['alg missing', forge({ typ: 'at+jwt', kid: key.kid }, CLAIMS), 'header'],
    ['alg as a list', forge({ ...HEADER, alg: ['ES256'] }, CLAIMS), 'header'],
    ['HS256 with the public key', hmac({ ...HEADER, alg: 'HS256' }, publicPem), 'malformed'],
    [
      'HS256 padded to the length of ES256',
      `${hmac({ ...HEADER, alg: 'HS256' }, publicPem)}${'A'.repeat(43)}`,
      'header',
    ],
    ['our header over an HMAC', `${hmac(HEADER, publicPem)}${'A'.repeat(43)}`, 'signature'],
    ['RS256', rs256({ ...HEADER, alg: 'RS256' }), 'malformed'],
    ['RS256 under our header', rs256(HEADER), 'malformed'],
    ['ES384 in name', forge({ ...HEADER, alg: 'ES384' }, CLAIMS), 'header'],
    ['an unknown kid', forge({ ...HEADER, kid: stranger.kid }, CLAIMS, stranger.privateKey), 'header'],
    ['a kid that is a path', forge({ ...HEADER, kid: '../../dev/null' }, CLAIMS), 'header'],
    ['no kid', forge({ alg: 'ES256', typ: 'at+jwt' }, CLAIMS), 'header'],
    ['our kid, another key', forge(HEADER, CLAIMS, stranger.privateKey), 'signature'],
    ['our other kid, this key', forge({ ...HEADER, kid: signingKeys.previous?.kid }, CLAIMS), 'signature'],
    [
      'jwk',
      forge({ ...HEADER, jwk: stranger.publicKey.export({ format: 'jwk' }) }, CLAIMS, stranger.privateKey),
      'header',
    ],
    ['jku', forge({ ...HEADER, jku: 'https://evil.example/jwks' }, CLAIMS), 'header'],
    ['x5u', forge({ ...HEADER, x5u: 'https://evil.example/cert' }, CLAIMS), 'header'],
    ['x5c', forge({ ...HEADER, x5c: ['AAAA'] }, CLAIMS), 'header'],
    ['crit', forge({ ...HEADER, crit: ['exp'] }, CLAIMS), 'header'],
    ['b64 false', forge({ ...HEADER, b64: false, crit: ['b64'] }, CLAIMS), 'header'],
    ['zip', forge({ ...HEADER, zip: 'DEF' }, CLAIMS), 'header'],
    ['typ JWT', forge({ ...HEADER, typ: 'JWT' }, CLAIMS), 'header'],
    ['typ of an ID token: none', forge({ alg: 'ES256', kid: key.kid }, CLAIMS), 'header'],
    ['typ in another case', forge({ ...HEADER, typ: 'AT+JWT' }, CLAIMS), 'header'],
    ['members of the header in another order', forge({ kid: key.kid, typ: 'at+jwt', alg: 'ES256' }, CLAIMS), 'header'],
    ['a member of the header twice', forge(`{"alg":"none",${JSON.stringify(HEADER).slice(1)}`, CLAIMS), 'header'],
    ['white space in the header', forge(`${JSON.stringify(HEADER)} `, CLAIMS), 'header'],
    ['a header that is no object', forge('[]', CLAIMS), 'header'],
    ['a header that is no JSON', forge('{', CLAIMS), 'header'],
    ['an encrypted token: five parts', `${good}.${body}.${signature}`, 'malformed'],
    ['two parts', `${head}.${body}`, 'malformed'],
    ['no signature', `${head}.${body}.`, 'malformed'],
    ['an empty payload', `${head}..${signature}`, 'signature'],
    ['a payload of another token', `${head}.${encode({ ...CLAIMS, gen: 4 })}.${signature}`, 'signature'],
    ['a zero signature', `${head}.${body}.${'A'.repeat(86)}`, 'signature'],
    [
      'a DER signature',
      `${input(HEADER)}.${sign('sha256', Buffer.from(input(HEADER)), key.privateKey).toString('base64url')}`,
      'malformed',
    ],
    ['a signature with one byte more', `${good}AA`, 'malformed'],
    ['padding', `${good}==`, 'malformed'],
    ['a space before', ` ${good}`, 'malformed'],
    ['a space after', `${good} `, 'malformed'],
    ['a newline after', `${good}\n`, 'malformed'],
    ['a newline inside', `${head}.\n${body}.${signature}`, 'malformed'],
    ['a space inside the signature', `${head}.${body}.${signature.slice(0, 9)} ${signature.slice(9)}`, 'malformed'],
    ['standard base64 letters', `${head}.${body}.${'+'.repeat(85)}A`, 'malformed'],
    [
      'stray bits in the last character',
      good.slice(0, -1) + String.fromCharCode(good.charCodeAt(good.length - 1) + 1),
      'malformed',
    ],
    ['full-width letters', good.replace('e', 'ｅ'), 'malformed'],
    ['JSON serialisation', JSON.stringify({ protected: head, payload: body, signature }), 'malformed'],
    ['nothing', '', 'malformed'],
    ['dots', '..', 'malformed'],
    ['4,097 characters', `${head}.${'A'.repeat(4097 - head.length - 88)}.${signature}`, 'malformed'],
  ];
  for (const [name, text, reason] of table) {
    it(`${reason}: ${name}`, () => expect(outcome(text)).to.equal(reason));
  }

  it('is verified only up to 4,096 characters', () => {
    const long = `${head}.${'A'.repeat(4096 - head.length - 88)}.${signature}`;
    expect(outcome(long)).to.equal('signature');
  });

  it('rejects every mixture of letters, dots and padding', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('A', 'Q', '.', '-', '\n', '='), maxLength: 4096 }), (text) => {
        return !verifyAccessToken(text, keys, EXPECTED, NOW).ok;
      }),
    );
  });

  it('is never accepted with one bit of its text changed', () => {
    const bytes = Buffer.from(good);
    const random = seededRandom('bits');
    for (let round = 0; round < 300; round++) {
      const bit = random(4).readUInt32BE() % (bytes.length * 8);
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(outcome(flipped.toString('latin1')), `bit ${bit}`).to.not.equal('accepted');
    }
  });

  it('never makes the verifier throw', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !verifyAccessToken(text, keys, EXPECTED, NOW).ok));
  });
});

describe('a valid access token with invalid claims', () => {
  const without = (name: keyof typeof CLAIMS) =>
    Object.fromEntries(Object.entries(CLAIMS).filter(([claim]) => claim !== name));
  const table: [string, unknown, TokenFault][] = [
    ...(Object.keys(CLAIMS) as (keyof typeof CLAIMS)[]).map((name): [string, unknown, TokenFault] => [
      `no ${name}`,
      without(name),
      'claims',
    ]),
    ['another issuer', { ...CLAIMS, iss: 'https://evil.example' }, 'issuer'],
    ['an issuer with a slash more', { ...CLAIMS, iss: `${CLAIMS.iss}/` }, 'issuer'],
    ['another audience (T8)', { ...CLAIMS, aud: `${CLAIMS.aud}/mcp` }, 'audience'],
    ['a list of audiences', { ...CLAIMS, aud: [CLAIMS.aud] }, 'claims'],
    ['a subject that is not the client', { ...CLAIMS, sub: 'usr_a' }, 'claims'],
    ['a life of more than an hour', { ...CLAIMS, exp: iat + 3601 }, 'claims'],
    ['an end before its beginning', { ...CLAIMS, exp: iat }, 'claims'],
    ['an end as text', { ...CLAIMS, exp: String(iat + 60) }, 'claims'],
    ['an end without end', JSON.stringify(CLAIMS).replace(/"exp":\d+/, '"exp":1e999'), 'claims'],
    ['a broken second', { ...CLAIMS, iat: iat + 0.5 }, 'claims'],
    ['a negative time', { ...CLAIMS, iat: -10, exp: -5 }, 'claims'],
    ['a beginning in the future', { ...CLAIMS, iat: iat + 31, exp: iat + 60 }, 'not_yet_valid'],
    ['nbf in the future', { ...CLAIMS, nbf: iat + 31 }, 'not_yet_valid'],
    ['nbf as text', { ...CLAIMS, nbf: '0' }, 'claims'],
    ['an end in the past', { ...CLAIMS, iat: iat - 100, exp: iat }, 'expired'],
    ['a generation as text', { ...CLAIMS, gen: '3' }, 'claims'],
    ['a negative generation', { ...CLAIMS, gen: -1 }, 'claims'],
    ['an empty environment', { ...CLAIMS, env: '' }, 'claims'],
    ['a list', [CLAIMS], 'claims'],
    ['null', 'null', 'claims'],
    ['text', 'hello', 'claims'],
  ];
  for (const [name, claims, reason] of table) {
    it(`${reason}: ${name}`, () => expect(outcome(forge(HEADER, claims))).to.equal(reason));
  }

  it('grants nothing for an unknown scope', () => {
    const verification = verifyAccessToken(
      forge(HEADER, { ...CLAIMS, scope: 'tools:read root toString' }),
      keys,
      EXPECTED,
      NOW,
    );
    expect(verification.ok && verification.token.scopes).to.deep.equal(['tools:read']);
  });
});
