import { expect } from 'chai';
import fc from 'fast-check';
import { ENCODED_BYTES, encodedNeedles, shortestEncoded, textsOf } from '../../../../core/net/redact/needles.ts';

describe('the encoded forms of secrets', () => {
  it('are never shorter than the minimum, and consist of the listed bytes', () => {
    const secret = fc.oneof(
      fc.string({ minLength: 4, maxLength: 80 }),
      fc.string({ minLength: 4, maxLength: 80, unit: 'binary' }),
      fc.base64String({ minLength: 4, maxLength: 400 }),
    );
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1, maxLength: 3 }), (secrets) => {
        const texts = textsOf(secrets);
        const bound = shortestEncoded(texts);
        for (const { bytes } of encodedNeedles(texts)) {
          expect(bytes.length).to.be.at.least(bound);
          expect(bytes.every((byte) => ENCODED_BYTES[byte] === 1)).to.equal(true);
        }
      }),
    );
  });
});
