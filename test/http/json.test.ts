import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../core/errors.ts';
import { parseJson } from '../../http/body/json.ts';

const parse = (text: string | Buffer) => parseJson(Buffer.from(text));
const nested = (depth: number, open = '[', close = ']') => `${open.repeat(depth)}${close.repeat(depth)}`;

function refused(text: string | Buffer): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'MALFORMED_BODY') return error.message;
    throw error;
  }
  throw new Error(`was accepted: ${text.toString('utf8').slice(0, 80)}`);
}

/**
 * Whether a value contains numbers or texts that are rejected: whole numbers beyond 2^53 without an exponent, or texts
 * with lone surrogates.
 */
function holdsWhatIsRefused(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((entry) => entry.some(holdsWhatIsRefused));
}

describe('parseJson', () => {
  it('parses what JSON.parse parses, if no two parsers could disagree', () => {
    const value = fc.jsonValue({ maxDepth: 10 }).filter((one) => !holdsWhatIsRefused(one));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (one, indent) => {
        const text = JSON.stringify(one, null, indent);
        expect(parse(text)).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('never accepts what JSON.parse refuses', () => {
    const soup = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0041tfn1-+.eE \n\u0000'), maxLength: 40 });
    fc.assert(
      fc.property(soup, (text) => {
        let strict: unknown;
        try {
          strict = parse(text);
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError);
          return;
        }
        expect(strict).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  describe('refuses duplicate keys (C16)', () => {
    for (const text of [
      '{"a":1,"a":2}',
      '{"a":1,"b":2,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"\\/":1,"/":2}',
      '[[{"x":{"a":1,"a":2}}]]',
      '{"":1,"":2}',
      '{"__proto__":1,"__proto__":2}',
      '{"a":"{\\"b\\":1}","a":2}',
    ]) {
      it(text, () => expect(refused(text)).to.include('duplicate key'));
    }

    for (const text of [
      '{"a":{"a":1},"b":{"a":2}}',
      '[{"a":1},{"a":1}]',
      '{"a":"a","b":"a"}',
      '{"a":["a","a"]}',
      '{"a":1,"A":2}',
    ]) {
      it(`but accepts ${text}`, () => expect(parse(text)).to.deep.equal(JSON.parse(text)));
    }
  });

  describe('refuses numbers that a double cannot hold (C16)', () => {
    for (const text of [
      '9007199254740992',
      '-9007199254740992',
      '[1, 123456789012345678901234567890]',
      '1e400',
      '-1e400',
      '{"a":1e999}',
    ]) {
      it(text, () => expect(refused(text)).to.include('number'));
    }

    for (const text of [
      '9007199254740991',
      '-9007199254740991',
      '0',
      '-0',
      '1e308',
      '0.1',
      '1E-7',
      '"9007199254740993"',
    ]) {
      it(`but accepts ${text}`, () => expect(parse(text)).to.deep.equal(JSON.parse(text)));
    }
  });

  describe('refuses text that is not Unicode (C15, C16)', () => {
    for (const [what, bytes] of [
      ['invalid UTF-8', [0x22, 0xff, 0x22]],
      ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
      ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
      ['half a character', [0x22, 0xe2, 0x82, 0x22]],
      ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
      ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
    ] as const) {
      it(what, () => {
        refused(Buffer.from(bytes));
      });
    }

    for (const text of ['"\\ud800"', '"\\udc00\\ud800"', '{"\\ud83d":1}', '["a\\udfffb"]']) {
      it(`a lone surrogate: ${text}`, () => expect(refused(text)).to.include('surrogate'));
    }

    it('but accepts a surrogate pair', () => expect(parse('"\\ud83d\\ude00"')).to.equal('😀'));
  });

  describe('refuses more than 32 levels (S1)', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const inner = open === '[' ? '' : '1';
      it(`of ${open}`, () => {
        const at = (depth: number) => `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
        expect(() => parse(at(32))).not.to.throw();
        expect(refused(at(33))).to.include('32 levels');
      });
    }

    it('before any object is created, regardless of the depth', () => {
      const before = process.memoryUsage().heapUsed;
      refused('['.repeat(250_000));
      refused(nested(100_000));
      expect(process.memoryUsage().heapUsed - before).to.be.below(64 * 1024 * 1024);
    });

    it('but counts levels, not brackets in strings', () => {
      const text = JSON.stringify(['['.repeat(100), '\\"[{'.repeat(50)]);
      expect(parse(text)).to.deep.equal(JSON.parse(text));
    });
  });

  describe('rejects invalid JSON', () => {
    for (const text of [
      '',
      ' ',
      '{',
      '}',
      '[1,]',
      '{"a"}',
      "{'a':1}",
      '01',
      '+1',
      '.5',
      '1.',
      'NaN',
      'undefined',
      '"\n"',
      '"\\x41"',
      '1 2',
      '/**/1',
      '"a',
    ]) {
      it(JSON.stringify(text), () => {
        refused(text);
      });
    }
  });

  it('takes linear time', () => {
    const long = `[${'"\\\\",'.repeat(60_000)}1]`;
    expect(parse(long)).to.have.length(60_001);
  });
});
