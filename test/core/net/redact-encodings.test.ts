import { expect } from 'chai';
import fc from 'fast-check';
import { createScrubber, createStreamScrubber, SCRUBBED } from '../../../core/net/redact.ts';
import { amount } from '../../support/amount.ts';

/** Returns the next number of a list, repeatedly. Encoders use the numbers to choose among notations. */
type Choose = (below: number) => number;
type Encoder = (secret: string, choose: Choose) => string | Buffer;

const hex = (code: number, digits: number, upper: number) => {
  const text = code.toString(16).padStart(digits, '0');
  return upper ? text.toUpperCase() : text;
};
const eachByte = (secret: string, encode: (byte: number) => string) => [...Buffer.from(secret)].map(encode).join('');
const eachCharacter = (secret: string, encode: (character: string, code: number) => string) =>
  [...secret].map((character) => encode(character, character.codePointAt(0) ?? 0)).join('');
const isPlain = (text: string) => /^[A-Za-z0-9]$/.test(text);
const wrapped = (text: string, width: number, end: string) =>
  text.match(new RegExp(`.{1,${width}}`, 'g'))?.join(end) ?? '';
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const ascii = (text: string, choose: Choose) =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4, choose(2))}`);
const percent = (secret: string, choose: Choose, all: boolean) =>
  eachByte(secret, (byte) => {
    const character = String.fromCharCode(byte);
    const leave = isPlain(character) && !all && choose(3) > 0;
    return leave ? character : `%${hex(byte, 2, choose(2))}`;
  });
const NAMES: Record<string, string> = {
  '&': 'amp',
  '<': 'lt',
  '"': 'quot',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
  é: 'eacute',
};
const html = (secret: string, choose: Choose) =>
  eachCharacter(secret, (character, code) => {
    const name = NAMES[character];
    if (isPlain(character) && choose(3) > 0) return character;
    const ways = [`&#${code};`, `&#x${hex(code, 2, choose(2))};`, `&#x0000${hex(code, 2, 0)};`, `&#000${code};`];
    return name !== undefined && choose(2) === 0 ? `&${name};` : (ways[choose(ways.length)] as string);
  });
const base64 = (secret: string, choose: Choose, encoding: BufferEncoding = 'utf8') => {
  const whole = Buffer.concat([
    Buffer.from('user:'.slice(choose(4))),
    Buffer.from(secret, encoding),
    Buffer.from('z'.repeat(choose(3))),
  ]);
  return whole.toString(choose(2) === 0 ? 'base64' : 'base64url');
};
const printable = (secret: string, choose: Choose) =>
  eachByte(secret, (byte) => {
    const character = String.fromCharCode(byte);
    const mayStay = isPlain(character) || (byte > 0x20 && byte < 0x7f && byte !== 0x3d && choose(2) === 0);
    return mayStay ? character : `=${hex(byte, 2, 1)}`;
  }).replace(/=[0-9A-F]{2}|./g, (unit) => (choose(9) === 0 ? `${unit}=\r\n` : unit));

const base32 = (text: string) => {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
};

const ENCODERS: Record<string, Encoder> = {
  'as it is': (secret) => secret,
  'in either case': (secret, choose) =>
    eachCharacter(secret, (character) => (choose(2) === 0 ? character.toUpperCase() : character.toLowerCase())),
  'percent-encoded in part': (secret, choose) => percent(secret, choose, false),
  'percent-encoded throughout': (secret, choose) => percent(secret, choose, true),
  'percent-encoded twice': (secret, choose) => encodeURIComponent(percent(secret, choose, false)),
  'as a form value': (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  'as character references': html,
  'as character references twice': (secret, choose) => html(secret, choose).replaceAll('&', '&amp;'),
  // Only the last reference has a semicolon, because the next character could otherwise be read as one of its digits.
  'as character references without semicolons': (secret, choose) =>
    `${eachCharacter(secret, (_, code) => (choose(2) === 0 ? `&#${code}` : `&#x${hex(code, 2, choose(2))}`))};`,
  'in JSON': (secret) => json(secret),
  'in ASCII JSON': (secret, choose) => ascii(json(secret), choose),
  'in JSON with every character escaped': (secret, choose) =>
    secret.replace(/[\s\S]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4, choose(2))}`),
  'in JSON in JSON': (secret, choose) => json(ascii(json(secret), choose)),
  'in four levels of JSON': (secret, choose) => json(json(json(ascii(json(secret), choose)))),
  'in JSON with escaped slashes, in JSON': (secret) => json(json(secret).replaceAll('/', '\\/')),
  'with escapes of JavaScript': (secret, choose) =>
    eachCharacter(secret, (_, code) =>
      choose(2) === 0
        ? `\\u{${hex(code, 1, choose(2))}}`
        : code < 0x80
          ? `\\x${hex(code, 2, choose(2))}`
          : `\\u{${hex(code, 4, 0)}}`,
    ),
  'with escapes of Python': (secret) => eachByte(secret, (byte) => `\\x${hex(byte, 2, 0)}`),
  'with long escapes of Python': (secret, choose) =>
    eachCharacter(secret, (_, code) => `\\U${hex(code, 8, choose(2))}`),
  'with octal escapes': (secret) => eachByte(secret, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'in hexadecimal': (secret, choose) => eachByte(secret, (byte) => hex(byte, 2, choose(2))),
  'in hexadecimal with colons': (secret) => eachByte(secret, (byte) => `${hex(byte, 2, 0)}:`).slice(0, -1),
  'in hexadecimal with blanks': (secret) => eachByte(secret, (byte) => `${hex(byte, 2, 1)} `).trim(),
  'in base64': (secret, choose) => base64(secret, choose),
  'in base64 with line breaks': (secret, choose) =>
    wrapped(base64(secret, choose), [4, 7, 16, 64, 76][choose(5)] ?? 16, choose(2) ? '\n' : '\r\n'),
  'in base64 with line breaks and indentation': (secret, choose) => wrapped(base64(secret, choose), 20, '\n    '),
  'in base64 with line breaks, in JSON': (secret, choose) => json(wrapped(base64(secret, choose), 16, '\r\n')),
  'in base64, percent-encoded': (secret, choose) => encodeURIComponent(base64(secret, choose)),
  'in base64 of UTF-16': (secret, choose) => base64(secret, choose, 'utf16le'),
  'in base64 of what is percent-encoded': (secret, choose) => base64(encodeURIComponent(secret), choose),
  'in base64 of JSON': (secret, choose) => base64(json(secret), choose),
  'in UTF-16, little end first': (secret) => Buffer.from(secret, 'utf16le'),
  'in UTF-16, big end first': (secret) => Buffer.from(secret, 'utf16le').swap16(),
  'in Latin-1': (secret) => Buffer.from(secret, 'latin1'),
  'in quoted-printable': printable,
  'in quoted-printable, in JSON': (secret, choose) => json(printable(secret, choose)),
  'percent-encoded, as character references, in JSON': (secret, choose) =>
    json(html(percent(secret, choose, false), choose)),
};

const UNIT = fc.constantFrom(
  ...'abcdeXYZ0189',
  ...'abcdeXYZ0189',
  '/',
  '+',
  '=',
  '-',
  '_',
  '.',
  '%',
  '&',
  '"',
  '\\',
  ' ',
  'é',
  '~',
);
/**
 * A secret whose ends do not form an escape together with the text around it, and that contains no escape itself.
 * Otherwise no reader could tell which escapes are the encoder's.
 */
const SECRET = fc
  .string({ unit: UNIT, minLength: 16, maxLength: 60 })
  .map((text) => `kz${text.replace(/%(?=[0-9a-f]{2})/gi, '%-')}xyz`);
/**
 * Text that forms no escape with what follows. A counterexample is `100%` before `41…`, which every reader decodes as
 * `100A…`.
 */
const PADDING = fc.constantFrom(
  '',
  ' ',
  'token=',
  '"',
  '{"key":"',
  'Bearer ',
  '& ',
  '50% ',
  'x'.repeat(40),
  '\n',
  '>',
  ': ',
  '=',
  'é',
);
const CHOICES = fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 40 });
/** Set REDACT_RUNS=1000 for a longer run. */
const RUNS = amount(process.env['REDACT_RUNS'], 30);
/** Characters at each end of base64 that contain a few bits of the secret and bits of the text around it. */
const EDGE = 14;

function choosing(choices: readonly number[]): Choose {
  let at = 0;
  return (below) => (choices[at++ % choices.length] as number) % below;
}

/** Returns the length of the longest part of the encoded secret that remains, in characters. */
function longestLeft(encoded: Buffer, out: Buffer): number {
  for (let length = EDGE + 1; length <= encoded.length; length++) {
    let isLeft = false;
    for (let at = 0; at + length <= encoded.length && !isLeft; at++)
      isLeft = out.includes(encoded.subarray(at, at + length));
    if (!isLeft) return length - 1;
  }
  return encoded.length;
}

describe('L2: a secret is removed (E5)', () => {
  for (const [name, encode] of Object.entries(ENCODERS)) {
    it(name, () => {
      fc.assert(
        fc.property(SECRET, PADDING, PADDING, CHOICES, (secret, pad, after, choices) => {
          // In quoted-printable an equals sign is itself written as an escape.
          const before = name.includes('printable') ? pad.replace('=', '=3D') : pad;
          const encoded = Buffer.from(encode(secret, choosing(choices)) as string);
          const text = Buffer.concat([Buffer.from(before), encoded, Buffer.from(after)]);
          expect(text.equals(createScrubber(['another secret, of no use']).bytes(text)), 'a control').to.equal(true);
          const out = createScrubber([secret]).bytes(text);
          expect(out.includes(SCRUBBED)).to.equal(true);
          expect(longestLeft(encoded, out), out.toString()).to.be.at.most(EDGE);
        }),
        { numRuns: RUNS },
      );
    });
  }

  it('as character references without semicolons, at the end of a text', () => {
    const references = eachCharacter('kz-secret', (_, code) => `&#${code}`);
    expect(createScrubber(['kz-secret'])(`<p>${references}`)).to.equal(`<p>${SCRUBBED}`);
    expect(createScrubber(['kz-other'])(`<p>${references}`)).to.equal(`<p>${references}`);
  });

  it('from a stream, at any chunk boundary', () => {
    const names = fc.constantFrom(...Object.keys(ENCODERS));
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        SECRET,
        fc.array(names, { minLength: 1, maxLength: 4 }),
        PADDING,
        CHOICES,
        cuts,
        (secret, encoders, padding, choices, sizes) => {
          const choose = choosing(choices);
          const encoded = encoders.map((name) => Buffer.from(ENCODERS[name]?.(secret, choose) as string));
          const parts = encoded.flatMap((part) => [Buffer.from(padding), part]);
          const text = Buffer.concat([...parts, Buffer.from(' the end')]);
          const stream = createStreamScrubber([secret]);
          const out: Buffer[] = [];
          for (let at = 0, piece = 0; at < text.length; piece++) {
            const size = sizes[piece % sizes.length] as number;
            // Copied, because the memory of a socket is reused.
            out.push(Buffer.from(stream.add(Buffer.from(text.subarray(at, at + size)))));
            at += size;
          }
          out.push(stream.end());
          const whole = Buffer.concat(out);
          expect(whole.includes(SCRUBBED)).to.equal(true);
          expect(whole.subarray(-7).toString()).to.equal('the end');
          for (const part of encoded) expect(longestLeft(part, whole), whole.toString()).to.be.at.most(EDGE);
        },
      ),
      { numRuns: 6 * RUNS },
    );
  });
});

describe('L2: redaction of a stream', () => {
  const TOKEN = 'tok_0123456789abcdef';

  it('passes text on without delay if no part of it can begin a secret', () => {
    const stream = createStreamScrubber([TOKEN]);
    for (const piece of ['data: one\n\n', 'data: two 100% & more \\o/\n\n', 'x'.repeat(1000)]) {
      expect(stream.add(Buffer.from(piece)).toString()).to.equal(piece);
    }
    expect(stream.add(Buffer.from('a tok_01')).toString(), 'only what may be the beginning is held back').to.equal(
      'a ',
    );
    expect(stream.add(Buffer.from('23x')).toString()).to.equal('tok_0123x');
    expect(stream.end().toString()).to.equal('');
  });

  it('holds back only a little of any input', () => {
    const stream = createStreamScrubber([TOKEN]);
    let given = 0;
    let taken = 0;
    for (const piece of [
      'tok',
      '\0'.repeat(50_000),
      '&#'.repeat(50_000),
      'tok_01%',
      '='.repeat(50_000),
      '%'.repeat(999),
      '\\'.repeat(9999),
    ]) {
      given += piece.length;
      taken += stream.add(Buffer.from(piece)).length;
      expect(given - taken).to.be.at.most(4096);
    }
  });

  it('takes linear time, also byte by byte', () => {
    const secret = `${'ab'.repeat(2000)}c`;
    const stream = createStreamScrubber([secret]);
    let taken = 0;
    for (let at = 0; at < 60_000; at++) taken += stream.add(Buffer.from(at % 2 === 0 ? 'a' : 'b')).length;
    expect(taken + stream.end().length).to.equal(60_000);
  });
});

describe('L2: derived secrets', () => {
  const KEY = [
    '-----BEGIN PRIVATE KEY-----',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw',
    'ggSjAgEAAoIBAQC7VJTUt9Us8cKj',
    '-----END PRIVATE KEY-----',
    '',
  ];

  it('include the lines of a key, and other line endings', () => {
    const clean = createScrubber([KEY.join('\n')]);
    for (const text of [
      KEY.join('\n'),
      KEY.join('\r\n'),
      JSON.stringify(KEY.join('\n')),
      `only ${KEY[1]} of it`,
      `<b>${KEY[2]}</b>`,
    ]) {
      expect(clean(text), text).to.contain(SCRUBBED).and.not.contain('IBADAN').and.not.contain('AAoIBAQC7');
    }
  });

  it('are found where texts of several secrets are adjacent', () => {
    const clean = createScrubber(['first-secret-1234', 'second-secret-567']);
    expect(clean('first-secret-1234second-secret-567')).to.equal(SCRUBBED);
    expect(clean('first-secret-1234 and c2Vjb25kLXNlY3JldC01Njc=')).to.match(/^\[secret\] and \[secret\].=$/);
  });

  it('do not include words that are only similar', () => {
    const clean = createScrubber(['test', 'pass word']);
    for (const text of ['te\nst', 'late street', '74 65', 'compassword', 'dGVz']) expect(clean(text)).to.equal(text);
  });
});

describe('L2: secrets that are encoded twice, or in base32', () => {
  const secret = 'vks_S3cr3t/of+a client~0123456789';
  const clean = createScrubber([secret]);

  it('L2: other texts in these encodings stay unchanged (negative control)', () => {
    const other = 'a text of the provider, 0123456789 and more';
    for (const text of [base32(other), Buffer.from(Buffer.from(other).toString('base64')).toString('base64')]) {
      expect(clean(text)).to.equal(text);
    }
  });

  for (let before = 0; before < 5; before++) {
    it(`L2: they are found ${before} characters into a text`, () => {
      const text = `${'user:'.slice(0, before)}${secret}.`;
      for (const inner of ['base64', 'base64url'] as const) {
        for (let padding = 0; padding < 3; padding++) {
          const outer = `${'x'.repeat(padding)}${Buffer.from(text).toString(inner)}`;
          expect(clean(Buffer.from(outer).toString('base64')), `${inner} ${padding}`).to.include(SCRUBBED);
          expect(clean(Buffer.from(outer).toString('base64url')), `${inner} ${padding}`).to.include(SCRUBBED);
        }
      }
      expect(clean(base32(text))).to.include(SCRUBBED);
      expect(clean(base32(text).toLowerCase())).to.include(SCRUBBED);
    });
  }
});
