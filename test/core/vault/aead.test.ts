import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import { createSaltedSealer, open, openSalted, seal, sealSalted } from '../../../core/vault/aead.ts';
import { seededRandom } from './support.ts';

const random = seededRandom('aead');
const key = createSecretKey(random(32));
const data = Buffer.from('where it belongs');
const plaintext = Buffer.from('plaintext');

for (const [name, make, read, overhead] of [
  ['seal', seal, open, 28],
  ['sealSalted', sealSalted, openSalted, 44],
] as const) {
  describe(name, () => {
    it(`adds ${overhead} bytes and can be decrypted`, () => {
      const sealed = make(key, data, plaintext, random);
      expect(sealed.length).to.equal(plaintext.length + overhead);
      expect(read(key, data, sealed)).to.deep.equal(plaintext);
    });

    it('never produces the same ciphertext twice', () => {
      expect(make(key, data, plaintext, random)).to.not.deep.equal(make(key, data, plaintext, random));
    });

    it('refuses other associated data, another key, and every single-bit flip', () => {
      const sealed = make(key, data, plaintext, random);
      expect(() => read(key, Buffer.from('elsewhere'), sealed)).to.throw();
      expect(() => read(createSecretKey(random(32)), data, sealed)).to.throw();
      for (let bit = 0; bit < sealed.length * 8; bit++) {
        const flipped = Buffer.from(sealed);
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => read(key, data, flipped), `bit ${bit}`).to.throw();
      }
    });

    it('refuses every shorter message, also with a truncated tag', () => {
      const sealed = make(key, data, plaintext, random);
      for (let length = 0; length < sealed.length; length++) {
        expect(() => read(key, data, sealed.subarray(0, length)), `${length} bytes`).to.throw();
      }
    });

    it('rejects a random source that returns too few bytes', () => {
      expect(() => make(key, data, plaintext, () => Buffer.alloc(8))).to.throw(RangeError);
    });
  });
}

describe('sealSalted', () => {
  it('gives each message its own key: the same nonce with another salt produces another key stream', () => {
    const nonce = Buffer.alloc(12, 1);
    const withSalt = (salt: number) => (size: number) => (size === 16 ? Buffer.alloc(16, salt) : Buffer.from(nonce));
    const one = sealSalted(key, data, plaintext, withSalt(1)).subarray(28);
    const other = sealSalted(key, data, plaintext, withSalt(2)).subarray(28);
    expect(one).to.not.deep.equal(other);
  });
});

describe('createSaltedSealer', () => {
  const saltOf = (sealed: Buffer) => sealed.toString('hex', 0, 16);
  const nonceOf = (sealed: Buffer) => sealed.toString('hex', 16, 28);

  it('seals messages that openSalted decrypts', () => {
    const sealOne = createSaltedSealer(key, random);
    for (const text of ['one', 'two']) {
      expect(openSalted(key, data, sealOne(data, Buffer.from(text))).toString()).to.equal(text);
    }
  });

  it('gives each message its own nonce, and takes another salt for every thousand', () => {
    const sealOne = createSaltedSealer(key, random);
    const sealed = Array.from({ length: 2001 }, () => sealOne(data, plaintext));
    expect(new Set(sealed.map(nonceOf)).size).to.equal(2001);
    const salts = Map.groupBy(sealed, saltOf);
    expect([...salts.values()].map(({ length }) => length)).to.deep.equal([1000, 1000, 1]);
  });

  it('shares no salt with another sealer, as that of another process', () => {
    const [one, other] = [createSaltedSealer(key, random), createSaltedSealer(key, random)];
    expect(saltOf(one(data, plaintext))).to.not.equal(saltOf(other(data, plaintext)));
  });

  it('rejects a random source that returns too few bytes', () => {
    expect(() => createSaltedSealer(key, () => Buffer.alloc(8))(data, plaintext)).to.throw(RangeError);
  });
});
