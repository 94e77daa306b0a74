import { expect } from 'chai';
import fc from 'fast-check';
import { lengthPrefixed } from '../../../core/vault/length-prefix.ts';

const hex = (...parts: (string | Buffer)[]) => lengthPrefixed(parts).toString('hex');

describe('length-prefixed parts', () => {
  it('start with their length in four bytes', () => {
    expect(hex('ab', Buffer.from([0xff]))).to.equal('000000026162' + '00000001ff');
  });

  it('keep their boundaries', () => {
    expect(hex('ab', 'c')).to.not.equal(hex('a', 'bc'));
    expect(hex('a')).to.not.equal(hex('a', ''));
    expect(hex('a', '')).to.not.equal(hex('', 'a'));
  });

  it('distinguish lone surrogates, which UTF-8 would make equal', () => {
    expect(Buffer.from('\ud800')).to.deep.equal(Buffer.from('\ud801'));
    expect(hex('\ud800')).to.not.equal(hex('\ud801'));
    expect(hex('\ud800')).to.not.equal(hex(Buffer.from('\ud800', 'utf16le')));
  });

  it('differ whenever the lists differ', () => {
    const list = fc.array(fc.string({ unit: 'binary', maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(list, list, (a, b) => {
        const same = a.length === b.length && a.every((part, index) => part === b[index]);
        return (hex(...a) === hex(...b)) === same;
      }),
    );
  });
});
