import { expect } from 'chai';
import { createIds } from '../../core/ids.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

/** Decodes the characters of an id to a number. */
function decode(text: string): bigint {
  return [...text].reduce((value, char) => value * 32n + BigInt(ALPHABET.indexOf(char)), 0n);
}

function idsFrom(bytes: number[], times: number[]) {
  const clock = [...times];
  return createIds(
    () => clock.shift() ?? (times.at(-1) as number),
    (size) => Buffer.from(bytes.slice(0, size)),
  );
}

describe('identifiers', () => {
  it('consist of the time in milliseconds and random bytes', () => {
    const bytes = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x10, 0x32];
    const id = idsFrom(bytes, [NOW])('ca');
    expect(id).to.match(/^ca_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(decode(id.slice(3, 13))).to.equal(BigInt(NOW));
    expect(decode(id.slice(13))).to.equal(0x0123456789abcdef1032n);
  });

  it('increase by one within a millisecond, with carry', () => {
    const starts = [
      [0, 0, 0, 0, 0, 0, 0, 0, 3, 0xfe],
      [0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xfe],
      [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
    ];
    for (const start of starts) {
      const newId = idsFrom(start, [NOW]);
      const ids = Array.from({ length: 5 }, () => newId('req'));
      const first = decode((ids[0] as string).slice(14));
      expect(ids.map((id) => decode(id.slice(14)) - first)).to.deep.equal([0n, 1n, 2n, 3n, 4n]);
      expect(ids.toSorted()).to.deep.equal(ids);
    }
  });

  it('stay in order when the clock is set back', () => {
    const newId = idsFrom([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [NOW, NOW - 5_000, NOW - 4_000, NOW + 1]);
    const ids = Array.from({ length: 4 }, () => newId('evt'));
    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(ids).size).to.equal(4);
  });
});
