import { expect } from 'chai';
import { originsDigest } from '../../../core/vault/origins-digest.ts';

const A = 'https://api.example.com';
const B = 'https://uploads.example.com:8443';

describe('the digest of an origin set', () => {
  it('does not depend on order or repetition', () => {
    expect(originsDigest([B, A, B])).to.deep.equal(originsDigest([A, B]));
  });

  it('differs for every other set, the empty one included', () => {
    const digests = [[], [A], [B], [A, B], ['http://api.example.com'], ['https://api.example.com:8443']].map((set) =>
      originsDigest(set).toString('hex'),
    );
    expect(new Set(digests).size).to.equal(digests.length);
  });

  it('is made of origins in their one spelling only', () => {
    const others = [
      `${A}/`,
      'https://API.example.com',
      `${A}:443`,
      'https://u@api.example.com',
      'null',
      'api.example.com',
      '',
    ];
    for (const other of others) expect(() => originsDigest([other]), other).to.throw(TypeError);
  });
});
