import { expect } from 'chai';
import { bindingDigest } from '../../../core/vault/binding-digest.ts';

const A = 'https://api.example.com';
const B = 'https://uploads.example.com:8443';

describe('the digest of what a credential is bound to', () => {
  it('does not depend on order or repetition', () => {
    expect(bindingDigest([B, A, B])).to.deep.equal(bindingDigest([A, B]));
  });

  it('differs for every other set, also the empty one', () => {
    const digests = [[], [A], [B], [A, B], ['http://api.example.com'], ['https://api.example.com:8443']].map((set) =>
      bindingDigest(set).toString('hex'),
    );
    expect(new Set(digests).size).to.equal(digests.length);
  });

  it('differs for other terms, and for the same texts as origins', () => {
    const digests = [
      bindingDigest([A]),
      bindingDigest([A], ['']),
      bindingDigest([A], ['x']),
      bindingDigest([A], ['x', '']),
      bindingDigest([A], [B]),
      bindingDigest([A, B]),
    ].map((digest) => digest.toString('hex'));
    expect(new Set(digests).size).to.equal(digests.length);
  });

  it('accepts origins in canonical form only', () => {
    const others = [
      `${A}/`,
      'https://API.example.com',
      `${A}:443`,
      'https://u@api.example.com',
      'null',
      'api.example.com',
      '',
    ];
    for (const other of others) expect(() => bindingDigest([other]), other).to.throw(TypeError);
  });
});
