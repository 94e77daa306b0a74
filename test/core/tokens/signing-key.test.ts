import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import {
  exportSigningKey,
  generateSigningKey,
  importSigningKey,
  jwksDocument,
  thumbprint,
} from '../../../core/tokens/signing-key.ts';
import { signingKeys } from './support.ts';

const key = signingKeys.current;

describe('a signing key', () => {
  it('has its thumbprint as the key id: the example key of RFC 9449 §6.1', () => {
    const jwk = {
      crv: 'P-256',
      x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
      y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
    };
    expect(thumbprint(jwk)).to.equal('0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I');
  });

  it('is the same key after it was stored', () => {
    const pem = exportSigningKey(key);
    expect(`${pem}`).to.equal('[secret]');
    expect(pem.reveal()).to.match(/^-----BEGIN PRIVATE KEY-----\n/);
    const read = importSigningKey(pem);
    expect(read.kid).to.equal(key.kid);
    expect(read.privateKey.equals(key.privateKey)).to.equal(true);
  });

  it('is accepted on the curve P-256 only', () => {
    const pemOf = (pair: {
      privateKey: import('node:crypto').KeyObject;
      publicKey: import('node:crypto').KeyObject;
    }) => [
      pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      pair.publicKey.export({ type: 'spki', format: 'pem' }) as string,
    ];
    const others = [
      ...pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })),
      ...pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })),
      ...pemOf(generateKeyPairSync('ed25519')),
      key.publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'no key at all',
      '',
    ];
    for (const pem of others)
      expect(() => importSigningKey(new Secret(pem)), pem.slice(0, 30)).to.throw(
        TypeError,
        /^The key is not a private key/,
      );
  });
});

describe('the JWKS document', () => {
  it('contains public members only', () => {
    const { keys } = jwksDocument({ current: key });
    expect(keys).to.have.length(1);
    expect(keys[0]).to.deep.equal({
      ...key.publicKey.export({ format: 'jwk' }),
      kid: key.kid,
      use: 'sig',
      alg: 'ES256',
    });
    expect(keys[0]).to.have.all.keys('kty', 'crv', 'x', 'y', 'kid', 'use', 'alg');
    expect(JSON.stringify(keys)).to.not.include(String(key.privateKey.export({ format: 'jwk' }).d));
  });

  it('contains the previous key after the current one', () => {
    const { current, previous } = signingKeys;
    expect(jwksDocument(signingKeys).keys.map(({ kid }) => kid)).to.deep.equal([current.kid, previous?.kid]);
  });

  it('writes every coordinate with its full 32 bytes', () => {
    for (let round = 0; round < 50; round++) {
      const [jwk] = jwksDocument({ current: generateSigningKey() }).keys;
      expect([jwk?.x.length, jwk?.y.length]).to.deep.equal([43, 43]);
    }
  });
});
