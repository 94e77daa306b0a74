import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../core/errors.ts';
import { parsePairs } from '../../http/pipeline/query.ts';

const LIMIT = 8;
const read = (text: string) => ({ ...parsePairs(text, 'the query', LIMIT) });

describe('parsePairs', () => {
  for (const [text, expected] of [
    ['', {}],
    ['&&', {}],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['=b', { '': 'b' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['a=1+2%2B3', { a: '1 2+3' }],
    ['%61%3D=%26', { 'a=': '&' }],
    ['a=%F0%9F%98%80', { a: '😀' }],
    ['a;b=c', { 'a;b': 'c' }],
    ['constructor=1&toString=2', { constructor: '1', toString: '2' }],
  ] as [string, Record<string, unknown>][]) {
    it(`reads ${text}`, () => expect(read(text)).to.deep.equal(expected));
  }

  it('M8: counts the parameters before it decodes any', () => {
    expect(Object.keys(read('a&b&c&d&e&f&g&h'))).to.have.length(LIMIT);
    for (const text of ['a&b&c&d&e&f&g&h&i', '&'.repeat(LIMIT), `${'%zz&'.repeat(LIMIT)}x`]) {
      expect(() => read(text))
        .to.throw(ApiError, 'The query has more than 8 parameters.')
        .with.property('code', 'MALFORMED_BODY');
    }
  });

  it('keeps a name of a prototype property as an ordinary name', () => {
    const pairs = parsePairs('__proto__=x&__proto__=y', 'the query', LIMIT);
    expect(Object.keys(pairs)).to.deep.equal(['__proto__']);
    expect('toString' in pairs).to.equal(false);
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
  });

  for (const text of ['a=%', 'a=%4', 'a=%zz', '%ff=1', 'a=%c3%28', 'a=%ed%a0%80']) {
    it(`rejects ${text}, which parsers read differently`, () => {
      expect(() => read(text))
        .to.throw(ApiError)
        .with.property('code', 'MALFORMED_BODY');
    });
  }

  it('agrees with the standard on all well-formed text', () => {
    const text = fc.string({ unit: 'binary' }).map((one) => one.toWellFormed());
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (pairs) => {
        const encoded = new URLSearchParams(pairs).toString();
        const expected: Record<string, string[]> = Object.create(null);
        for (const [name, value] of pairs) expected[name] = [...(expected[name] ?? []), value];
        const found = parsePairs(encoded, 'the body', LIMIT);
        expect(Object.keys(found).toSorted()).to.deep.equal(Object.keys(expected).toSorted());
        for (const [name, values] of Object.entries(expected)) {
          expect(found[name]).to.deep.equal(values.length === 1 ? values[0] : values);
        }
      }),
    );
  });
});
