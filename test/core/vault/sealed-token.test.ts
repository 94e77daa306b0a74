import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createSealedTokens } from '../../../core/vault/sealed-token.ts';
import { seededRandom } from './support.ts';

const key = createSecretKey(seededRandom('key')(32));
const clock = { time: 1_800_000_000_000 };
const tokens = createSealedTokens(key, () => clock.time, seededRandom('tokens'));
const EXPIRES = clock.time + 60_000;
const BOUND = ['env_a', 'filter digest', 'forward'];
const token = tokens.seal('page', BOUND, 'payload', EXPIRES);

describe('a sealed token', () => {
  beforeEach(() => {
    clock.time = EXPIRES - 60_000;
  });

  it('can be opened with the binding that it was created with', () => {
    expect(tokens.open('page', BOUND, token)).to.equal('payload');
    expect(token).to.match(/^[A-Za-z0-9_-]+$/);
  });

  it('can be opened for any text and binding', () => {
    const text = fc.string({ unit: 'binary', maxLength: 100 });
    const payload = text.filter((candidate) => candidate.isWellFormed());
    fc.assert(
      fc.property(text, fc.array(text), payload, (purpose, bound, plain) => {
        return tokens.open(purpose, bound, tokens.seal(purpose, bound, plain, EXPIRES)) === plain;
      }),
    );
  });

  it('reveals nothing of its payload and is never the same twice', () => {
    expect(Buffer.from(token, 'base64url').includes('payload')).to.equal(false);
    expect(tokens.seal('page', BOUND, 'payload', EXPIRES)).to.not.equal(token);
  });

  it('cannot be opened after any of 1,000 bit flips (C7)', () => {
    const bits = Buffer.from(token, 'base64url').length * 8;
    const random = seededRandom('flips');
    for (let round = 0; round < 1000; round++) {
      const bit = random(4).readUInt32BE() % bits;
      const bytes = Buffer.from(token, 'base64url');
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.open('page', BOUND, bytes.toString('base64url')), `bit ${bit}`).to.equal(null);
    }
  });

  it('cannot be opened for another purpose, environment, filter, order of parts or direction (C7)', () => {
    expect(tokens.open('other', BOUND, token)).to.equal(null);
    for (const bound of [
      ['env_b', 'filter digest', 'forward'],
      ['env_a', 'other digest', 'forward'],
      ['env_a', 'filter digest', 'backward'],
      ['env_a', 'filter digest'],
      ['filter digest', 'env_a', 'forward'],
      ['env_a', 'filter digestforward', ''],
      [],
    ]) {
      expect(tokens.open('page', bound, token), bound.join()).to.equal(null);
    }
  });

  it('cannot be opened once it has expired (C7)', () => {
    clock.time = EXPIRES - 1;
    expect(tokens.open('page', BOUND, token)).to.equal('payload');
    clock.time = EXPIRES;
    expect(tokens.open('page', BOUND, token)).to.equal(null);
  });

  it('cannot be opened under another key', () => {
    const other = createSealedTokens(createSecretKey(seededRandom('other')(32)), () => clock.time, seededRandom());
    expect(other.open('page', BOUND, token)).to.equal(null);
  });

  it('has one spelling', () => {
    // Payloads whose tokens end in a base64 character with unused bits.
    const spare = ['', 'x', 'xx']
      .map((text) => tokens.seal('page', BOUND, text, EXPIRES))
      .filter((text) => text.length % 4 !== 0);
    expect(spare).to.have.length(2);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const text of spare) {
      const last = alphabet.indexOf(text.slice(-1));
      const stray = text.slice(0, -1) + alphabet[last + 1];
      expect(Buffer.from(stray, 'base64url')).to.deep.equal(Buffer.from(text, 'base64url'));
      for (const spelling of [
        stray,
        `${text}=`,
        `${text}==`,
        `${text}\n`,
        ` ${text}`,
        `${text.slice(0, 9)} ${text.slice(9)}`,
      ]) {
        expect(tokens.open('page', BOUND, spelling), spelling).to.equal(null);
      }
    }
  });

  it('is refused if it is not a token', () => {
    for (const text of ['', 'AQ', 'null', '../../etc/passwd', '\u0000', 'A'.repeat(5000), '💥']) {
      expect(tokens.open('page', BOUND, text), text).to.equal(null);
    }
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => tokens.open('page', BOUND, text) === null));
  });
});
