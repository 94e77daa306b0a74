import { expect } from 'chai';
import fc from 'fast-check';
import { createScrubber, MIN_SECRET_LENGTH, SCRUBBED, scrub } from '../../../core/net/redact.ts';

const SECRET = 'sk_l1ve/a+b"c d=é*';

describe('scrub (E5)', () => {
  const base64 = Buffer.from(SECRET).toString('base64');
  for (const [what, form] of [
    ['as it is', SECRET],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['percent-encoded in lower case', encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase())],
    ['percent-encoded by RFC 3986', encodeURIComponent(SECRET).replace('*', '%2A')],
    ['as a form value', new URLSearchParams({ a: SECRET }).toString().slice(2)],
    ['escaped as in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['escaped as in JSON with slashes', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
    ['escaped as in ASCII JSON', JSON.stringify(SECRET).slice(1, -1).replace('é', '\\u00e9')],
    ['in base64', base64.replaceAll('=', '')],
    ['in base64url', Buffer.from(SECRET).toString('base64url')],
  ] as const) {
    it(`removes a secret ${what}`, () => {
      const text = `before ${form} between ${form} after`;
      const out = scrub(text, [SECRET]);
      expect(out).to.match(/^before \[secret\].? between \[secret\].? after$/);
    });
  }

  it('removes a secret from the base64 of a user name and the secret, at every alignment', () => {
    for (const user of ['', 'a', 'ab', 'abc']) {
      const header = Buffer.from(`${user}:canary-password`).toString('base64');
      const left = scrub(`Basic ${header}`, ['canary-password']);
      // At most a few bits remain at each end, in characters that contain parts of two bytes.
      expect(left.length, user).to.be.at.most('Basic '.length + SCRUBBED.length + Math.ceil(user.length * 1.4) + 6);
      expect(left).to.contain(SCRUBBED);
    }
  });

  it('redacts JSON values, keys and numbers, and keeps the rest unchanged', () => {
    const value = {
      headers: { authorization: `Bearer ${SECRET}`, [SECRET]: 'as a key' },
      list: [SECRET, 1, true, null, ['harmless']],
      pin: 12345678,
      other: 1234567,
    };
    expect(scrub(value, [SECRET, '12345678'])).to.deep.equal({
      headers: { authorization: `Bearer ${SCRUBBED}`, [SCRUBBED]: 'as a key' },
      list: [SCRUBBED, 1, true, null, ['harmless']],
      pin: SCRUBBED,
      other: 1234567,
    });
  });

  it('does not change its input', () => {
    const value = { a: [SECRET] };
    scrub(value, [SECRET]);
    expect(value).to.deep.equal({ a: [SECRET] });
  });

  it('keeps a key __proto__ as an ordinary key', () => {
    const out = scrub(JSON.parse('{"__proto__":{"polluted":"x"}}'), [SECRET]);
    expect(Object.keys(out)).to.deep.equal(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('removes several secrets, also if they overlap or contain each other', () => {
    expect(scrub('xabcdefghx', ['abcdef', 'defgh'])).to.equal(`x${SCRUBBED}x`);
    expect(scrub('xabcabcabx', ['abcab'])).to.equal(`x${SCRUBBED}x`);
    expect(scrub('xabcdefgh abcd', ['abcd', 'abcdefgh'])).to.equal(`x${SCRUBBED} ${SCRUBBED}`);
  });

  it('does not change texts if secrets are too short to protect, or without secrets', () => {
    const text = 'abc and abcd';
    expect(MIN_SECRET_LENGTH).to.equal(4);
    expect(scrub(text, ['', 'a', 'abc'])).to.equal(text);
    expect(scrub(text, [])).to.equal(text);
    expect(scrub(text, ['abcd'])).to.equal(`abc and ${SCRUBBED}`);
  });

  it('treats text with an unpaired surrogate as a secret', () => {
    expect(scrub('a \ud800bcde', ['\ud800bcde'])).to.equal(`a ${SCRUBBED}`);
  });

  it('replaces deeply nested data instead of throwing', () => {
    let value: unknown = SECRET;
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    let out = scrub(value, [SECRET]);
    while (Array.isArray(out)) out = out[0];
    expect(out).to.equal(SCRUBBED);
  });

  it('leaves no occurrence of any secret, at any position', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b', '"', '/', 'é'), minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(few, { minLength: 1, maxLength: 3 }), fc.array(few), (secrets, parts) => {
        const text = [...parts, ...secrets].join('');
        const left = createScrubber(secrets)({ text, json: JSON.stringify(text) });
        for (const secret of secrets) {
          expect(left.text.split(SCRUBBED).some((piece) => piece.includes(secret))).to.equal(false);
          const escaped = JSON.stringify(secret).slice(1, -1);
          expect(left.json.split(SCRUBBED).some((piece) => piece.includes(escaped))).to.equal(false);
        }
      }),
    );
  });

  it('redacts a parsed value like any other, regardless of how its JSON was written', () => {
    const unit = fc.constantFrom('a', '1', '?', '"', '/', 'é', '\n');
    const few = fc.string({ unit, minLength: 4, maxLength: 8 });
    // Writes each character unchanged if JSON allows it, or as one of its escapes.
    const written = (text: string, ways: readonly number[]) =>
      [...text].map((char, index) => {
        const code = `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
        const plain = JSON.stringify(char).slice(1, -1);
        return [plain, plain, char === '/' ? '\\/' : plain, code][ways[index % ways.length] ?? 0];
      });
    const ways = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(fc.array(few, { minLength: 1, maxLength: 3 }), fc.array(few), ways, (secrets, parts, some) => {
        const echoes = secrets.flatMap((secret) => [secret, JSON.stringify(secret), btoa(encodeURI(secret))]);
        const text = written([...parts, echoes[(some[0] ?? 0) % echoes.length]].join(''), some).join('');
        const json = `{"a":["${text}"],"${text}":1111}`;
        const clean = createScrubber(secrets);
        expect(clean.parsed(JSON.parse(json), Buffer.from(json))).to.deep.equal(clean(JSON.parse(json)));
      }),
      { numRuns: 500 },
    );
    const encoded = '["Pz8\\/Pz8\\/Pw=="]';
    expect(createScrubber(['???????']).parsed(JSON.parse(encoded), Buffer.from(encoded))).to.deep.equal([
      `${SCRUBBED}w==`,
    ]);
    const pin = createScrubber(['12345678']);
    for (const number of ['12345678', '1.2345678e7', '123456780e-1']) {
      expect(pin.parsed(JSON.parse(`[${number}]`), Buffer.from(`[${number}]`)), number).to.deep.equal([SCRUBBED]);
    }
  });

  it('takes linear time for a secret and a text that match nearly everywhere', () => {
    const secret = `${'a'.repeat(4000)}b`;
    const text = 'a'.repeat(1_000_000);
    // Quadratic work would take 4,000,000,000 steps, far more than the time limit of a test allows.
    expect(scrub(text, [secret])).to.equal(text);
    expect(scrub(text, ['aaaa', 'a'.repeat(40_000)])).to.equal(SCRUBBED);
  });
});
