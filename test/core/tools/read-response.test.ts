import { expect } from 'chai';
import fc from 'fast-check';
import { createScrubber } from '../../../core/net/redact.ts';
import { pickFields } from '../../../core/tools/fields.ts';
import { FileContent } from '../../../core/tools/file-content.ts';
import { atPointer, withPointer } from '../../../core/tools/pointer.ts';
import { readResponse } from '../../../core/tools/read-response.ts';
import { shrinkToFit, sizeOf } from '../../../core/tools/shrink.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import { json, NOW, prepared, raw, toolOf } from './samples.ts';

const RULES = { scrub: createScrubber([]), now: () => NOW, hidden: [] };

function read(response: Parameters<typeof readResponse>[1], tool = toolOf()) {
  return readResponse(prepared({ tool }), response, RULES);
}

describe('A response', () => {
  it('is JSON, text, a file or nothing, by its media type', () => {
    const data = (response: Parameters<typeof readResponse>[1]) => {
      const outcome = read(response);
      return outcome.ok ? outcome.data : outcome.error.kind;
    };
    expect(data(json(200, { a: 1 }))).to.deep.equal({ a: 1 });
    expect(data(raw(200, 'application/problem+json', '[1]'))).to.deep.equal([1]);
    expect(data(raw(200, undefined, '{"a":1}'))).to.deep.equal({ a: 1 });
    expect(data(raw(200, undefined, 'plain'))).to.equal('plain');
    expect(data(raw(200, 'text/plain; charset=iso-8859-1', Buffer.from([0xfc])))).to.equal('ü');
    expect(data(raw(200, 'text/plain; charset=nonsense', 'ü'))).to.equal('ü');
    expect(data(raw(200, 'application/xml', '<a/>'))).to.equal('<a/>');
    expect(data(raw(204, undefined, ''))).to.equal(null);
    const file = data(raw(200, 'image/png', Buffer.from([1, 2, 3])));
    expect(file).to.deep.equal(new FileContent('file', 'image/png', Buffer.from([1, 2, 3])));
    expect(data(raw(200, undefined, Buffer.from([0xff, 0])))).to.include({ mediaType: 'application/octet-stream' });
  });

  it('keeps the last lines of a long text where the tool says so', () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index} "é\u0001`);
    const tool = toolOf({ response: { text: 'end', max_bytes: 2_000 } });
    const outcome = read(raw(200, 'text/plain', lines.join('\n')), tool);
    if (!outcome.ok) throw new Error(outcome.error.message);
    const kept = String(outcome.data);
    expect(sizeOf(kept)).to.be.within(1_000, 2_000);
    expect(lines.slice(-kept.split('\n').length)).to.deep.equal(kept.split('\n'));
    expect(outcome.truncated?.cuts).to.deep.equal([
      { path: '', kept: kept.length, of: lines.join('\n').length, unit: 'characters' },
    ]);
    const whole = read(raw(200, 'text/plain', 'one line'), tool);
    expect(whole).to.deep.equal({ ...whole, data: 'one line', truncated: undefined });
    const single = read(raw(200, 'text/plain', '\u0001'.repeat(5_000)), tool);
    expect(single.ok && sizeOf(single.data)).to.be.within(1_000, 2_000);
  });

  it('is a file if the tool says so, named by its header or body, without a path', () => {
    const file = (answer: Parameters<typeof readResponse>[1], response: Tool['response'] = { file: true }) => {
      const outcome = read(answer, toolOf({ response }));
      return outcome.ok && outcome.data instanceof FileContent ? outcome.data : undefined;
    };
    const named = (disposition: string) =>
      file({
        status: 200,
        headers: { 'content-type': 'text/csv', 'content-disposition': disposition },
        body: Buffer.from('a'),
      });
    expect(named('attachment; filename="a b.csv"')).to.include({ name: 'a b.csv', mediaType: 'text/csv' });
    expect(named(`attachment; filename=x.csv; filename*=UTF-8''%C3%BC.csv`)?.name).to.equal('ü.csv');
    for (const name of ['../../etc/passwd', 'C:\\\\x\\\\passwd', 'pas\u202eswd']) {
      expect(named(`attachment; filename="${name}"`)?.name, name).to.equal('passwd');
    }
    expect(named('attachment; filename=".."')?.name).to.equal('file');

    const within = { file: { base64: '/data', file_name: '/name', media_type: '/type' } };
    const held = file(json(200, { data: '_w', name: 'a.bin', type: 'application/x-a' }), within);
    expect(held).to.deep.equal(new FileContent('a.bin', 'application/x-a', Buffer.from([0xff])));
    expect(file(json(200, { data: null }), within)).to.equal(undefined);
  });

  it('that is a file does not contain the credential', () => {
    const scrub = createScrubber(['tok_secret_123']);
    const body = Buffer.concat([Buffer.from([0xff, 0]), Buffer.from('tok_secret_123'), Buffer.from([0xfe])]);
    const outcome = readResponse(prepared({}), raw(200, 'image/png', body), { ...RULES, scrub });
    const { bytes } = (outcome.ok ? outcome.data : undefined) as FileContent;
    expect(
      bytes.equals(Buffer.concat([Buffer.from([0xff, 0]), Buffer.from('[secret]'), Buffer.from([0xfe])])),
    ).to.equal(true);
  });

  it('that claims to be JSON and is not, or is nested too deeply, is invalid', () => {
    for (const body of ['<html>', '{"a":', `${'['.repeat(50_000)}${']'.repeat(50_000)}`]) {
      const outcome = read(raw(200, 'application/json', body));
      expect(outcome.ok ? 'ok' : outcome.error.kind).to.equal('upstream_invalid_response');
    }
    const failed = read(raw(502, 'application/json', '<html>bad gateway'));
    expect(failed.ok ? undefined : [failed.error.kind, failed.error.upstreamBody]).to.deep.equal([
      'upstream_server_error',
      '<html>bad gateway',
    ]);
  });

  it('keeps the selected part and the named members', () => {
    const tool = toolOf({ response: { select: '/items', fields: ['/id', '/user/login', '/labels/*/name', '/a~1b'] } });
    const item = { id: 1, noise: 'x', user: { login: 'ada', url: '…' }, labels: [{ name: 'l', color: 'c' }], 'a/b': 2 };
    const outcome = read(json(200, { total: 2, items: [item, { id: 2, user: null }] }), tool);
    expect(outcome.ok && outcome.data).to.deep.equal([
      { id: 1, user: { login: 'ada' }, labels: [{ name: 'l' }], 'a/b': 2 },
      { id: 2, user: null },
    ]);
    const missing = read(json(200, {}), tool);
    expect(missing.ok && missing.data).to.equal(null);
  });

  it('keeps each member of an object if the selection says so', () => {
    const tool = toolOf({ response: { fields: ['/rates/*/value', '/rates/eur/name'] } });
    const rates = { usd: { value: 1, name: 'x' }, eur: { value: 2, name: 'Euro' }, none: null };
    const outcome = read(json(200, { rates, noise: 1 }), tool);
    expect(outcome.ok && outcome.data).to.deep.equal({
      rates: { usd: { value: 1 }, eur: { value: 2, name: 'Euro' }, none: null },
    });
  });

  it('L2: that is a file has no credential in its media type or name', () => {
    const scrub = createScrubber(['TokSecret123']);
    const fileOf = (response: Parameters<typeof readResponse>[1], tool = toolOf({})) => {
      const outcome = readResponse(prepared({ tool }), response, { ...RULES, scrub });
      return (outcome.ok ? outcome.data : undefined) as FileContent;
    };
    expect(fileOf(raw(200, 'image/x-other', Buffer.from('a'))).mediaType, 'the control').to.equal('image/x-other');
    expect(fileOf(raw(200, 'image/TokSecret123', Buffer.from('a'))).mediaType).to.equal('application/octet-stream');
    const within = toolOf({ response: { file: { base64: '/data', file_name: '/name', media_type: '/type' } } });
    const body = { data: 'AAA=', name: 'TokSecret123.bin', type: 'image/TokSecret123' };
    const held = fileOf(json(200, body), within);
    expect(JSON.stringify([held.mediaType, held.name]).toLowerCase()).not.to.include('toksecret123');
  });

  it('L2: has no credential in its cursor, also if line breaks are removed from an address', () => {
    const scrub = createScrubber(['tok_secret_123']);
    const tool = toolOf({ pagination: { style: 'next_url', response: { cursor: '/next' } } });
    const cursorOf = (next: string) => {
      const outcome = readResponse(prepared({ tool }), json(200, { next }), { ...RULES, scrub });
      return outcome.ok ? outcome.nextCursor : undefined;
    };
    expect(cursorOf('https://a.example/?q=tok_other'), 'the control').to.be.a('string');
    for (const gap of ['', '\n', '\t', '\r\n']) {
      expect(cursorOf(`https://a.example/?q=tok_se${gap}cret_123`), JSON.stringify(gap)).to.equal(undefined);
    }
  });

  it('shows base64 as the text that it encodes, and removes a secret from it regardless of line breaks', () => {
    const wrap = (text: string) =>
      Buffer.from(text)
        .toString('base64')
        .replace(/(.{5})/g, '$1\n');
    const tool = toolOf({ response: { base64: ['/content', '/parts/*/data'] } });
    const body = {
      content: wrap('Grüße, tok_other!'),
      parts: [{ data: 'Zm9v' }, { data: '_w==' }, { data: 'no base64!' }, { data: 7 }],
    };
    const scrub = createScrubber(['tok_secret_123']);
    const outcome = readResponse(prepared({ tool }), json(200, body), { ...RULES, scrub });
    expect(outcome.ok && outcome.data).to.deep.equal({
      content: 'Grüße, tok_other!',
      parts: [{ data: 'foo' }, { data: '_w==' }, { data: 'no base64!' }, { data: 7 }],
    });
    const secret = readResponse(prepared({ tool }), json(200, { content: wrap('tok_secret_123') }), {
      ...RULES,
      scrub,
    });
    expect(JSON.stringify(secret)).to.include('[secret]');
    const list = read(json(200, [{ content: 'Zm9v' }]), toolOf({ response: { base64: ['/content'] } }));
    expect(list.ok && list.data).to.deep.equal([{ content: 'foo' }]);
  });

  it('shows HTML as Markdown, and removes a secret from it that an element or an entity had split', () => {
    const tool = toolOf({ response: { markdown: ['/body/value'] } });
    const scrub = createScrubber(['tok_secret_123']);
    const shown = (value: unknown) => {
      const outcome = readResponse(prepared({ tool }), json(200, { body: { value } }), { ...RULES, scrub });
      return outcome.ok && outcome.data;
    };
    expect(shown('<h1>A</h1><p>b</p>')).to.deep.equal({ body: { value: '# A\n\nb' } });
    expect(shown(7)).to.deep.equal({ body: { value: 7 } });
    expect(shown('tok_&#115;ecret_123 tok_<span>secret_123</span> tok_other')).to.deep.equal({
      body: { value: '[secret] [secret] tok_other' },
    });
  });

  it('stays within its limit when lines of a quote become longer', () => {
    const tool = toolOf({ response: { max_bytes: 16_384, markdown: [''] } });
    const html = `${'<blockquote>'.repeat(8)}${'a<p>'.repeat(480)}`;
    const outcome = readResponse(prepared({ tool }), json(200, html), RULES);
    expect(html.length, 'the control: shorter than the result').to.be.below(16_384 / 8);
    expect(JSON.stringify(outcome.ok && outcome.data).length).to.be.within(14_000, 16_384);
    expect(outcome.ok && outcome.truncated).to.not.equal(undefined);
  });

  it('stays within its limit, also if a short text becomes longer when it is encoded again', () => {
    const worst = [
      '1e20',
      '-9e20',
      '1e-6',
      '"AQEB"',
      '"AQEBAQEB"',
      '"\\u0001"',
      '"\\ud800"',
      '"tok_"',
      '[]',
      '{"":1e20}',
    ];
    const part = fc.oneof(fc.constantFrom(...worst), fc.json({ maxDepth: 1 })).map((text) => Buffer.from(text));
    const bytes = fc.uint8Array({ min: 0x80, maxLength: 4 }).map((some) => Buffer.from([0x22, ...some, 0x22]));
    const scrub = createScrubber(['tok_']);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(part, bytes), { maxLength: 8 }),
        fc.integer({ min: 2, max: 9 }),
        (parts, factor) => {
          const list = parts.flatMap((item, index) => (index === 0 ? [item] : [Buffer.from(','), item]));
          const body = Buffer.concat([Buffer.from('['), ...list, Buffer.from(']')]);
          const max_bytes = body.length * factor;
          const tool = toolOf({ response: { max_bytes, base64: [''] } });
          const outcome = readResponse(prepared({ tool }), raw(200, 'application/json', body), { ...RULES, scrub });
          expect(sizeOf(outcome.ok && outcome.data)).to.be.at.most(max_bytes);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('that is a redirect is a failure without an address to follow', () => {
    const outcome = read({ status: 302, headers: { location: 'https://evil.example/' }, body: Buffer.alloc(0) });
    expect(outcome).to.deep.include({ ok: false });
    expect(JSON.stringify(outcome)).to.not.contain('evil.example');
  });

  it("that is a failure contains the vendor's text in one line, status and body", () => {
    const outcome = read(json(422, { message: 'Validation\n Failed\u0007', errors: [1] }));
    expect(outcome.ok ? undefined : outcome.error).to.deep.include({
      kind: 'upstream_bad_request',
      retryable: false,
      upstreamStatus: 422,
      message: 'The provider returned 422: Validation Failed',
      upstreamBody: { message: 'Validation\n Failed\u0007', errors: [1] },
    });
  });
});

describe('Truncating a response', () => {
  it('keeps whole items of a list and says how many', () => {
    const tool = toolOf({ response: { max_bytes: 1024 }, pagination: { style: 'link_header' } });
    const items = Array.from({ length: 100 }, (_, id) => ({ id, text: 'x'.repeat(50) }));
    const outcome = read(json(200, items), tool);
    if (!outcome.ok) throw new Error('not ok');
    const kept = outcome.data as unknown[];
    expect(sizeOf(kept)).to.be.at.most(1024);
    expect(kept).to.deep.equal(items.slice(0, kept.length));
    expect(outcome.truncated?.cuts).to.deep.equal([{ path: '', kept: kept.length, of: 100, unit: 'items' }]);
    expect(outcome.truncated?.statement).to.contain(`${kept.length} of 100 items`).and.to.contain('smaller pages');
  });

  it('removes the large members of an object and keeps the small ones', () => {
    const { value, truncated } = shrinkToFit(
      { id: 7, body: 'é'.repeat(5000), files: Array.from({ length: 500 }, (_, n) => `file ${n}`), ok: true },
      2000,
      false,
    );
    const kept = value as { id: number; ok: boolean; body: string; files: string[] };
    expect([kept.id, kept.ok]).to.deep.equal([7, true]);
    expect(kept.body).to.match(/^é{200,}$/);
    expect(kept.files.length).to.be.greaterThan(50);
    expect(truncated?.cuts.map(({ path, unit }) => `${path} ${unit}`)).to.have.members([
      '/body characters',
      '/files items',
    ]);
  });

  it('returns JSON of the same type within the limit, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 64, max: 400 }), (value, budget) => {
        const { value: kept, truncated } = shrinkToFit(value, budget, false);
        expect(sizeOf(kept)).to.be.at.most(budget);
        expect(JSON.parse(JSON.stringify(kept))).to.deep.equal(JSON.parse(JSON.stringify(kept)));
        expect(Array.isArray(kept)).to.equal(Array.isArray(value));
        expect(truncated === undefined).to.equal(sizeOf(value) <= budget);
      }),
      { numRuns: 500 },
    );
  });

  it('measures a deep response once, not once per level', () => {
    let deep: unknown = 'x'.repeat(2_000_000);
    for (let level = 0; level < 150; level++) deep = level % 2 === 0 ? { a: deep } : [deep];
    const { value, truncated } = shrinkToFit(deep, 10_000, false);
    expect(sizeOf(value)).to.be.at.most(10_000).and.greaterThan(5000);
    expect(truncated?.cuts).to.have.length(1);
  });

  it('works for one enormous item, many keys and long keys', () => {
    const values = [
      [{ text: 'x'.repeat(10_000) }, 1],
      Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`key${n}`, n])),
      { ['k'.repeat(5000)]: 1, small: 2 },
      'x'.repeat(10_000),
      [['x'.repeat(10_000)]],
    ];
    for (const value of values) {
      const { value: kept, truncated } = shrinkToFit(value, 1000, false);
      expect(sizeOf(kept)).to.be.at.most(1000).and.greaterThan(2);
      expect(truncated?.cuts).to.not.be.empty;
    }
  });
});

describe('Pointers and fields', () => {
  it('read own properties only', () => {
    expect(atPointer({ a: [{ 'b/c': 1 }] }, '/a/0/b~1c')).to.equal(1);
    for (const pointer of ['/constructor', '/a/length', '/a/-1', '/a/01', '/a/1', '/a/0/x'])
      expect(atPointer({ a: [{}] }, pointer), pointer).to.equal(undefined);
    expect(atPointer([1], '')).to.deep.equal([1]);
  });

  it('cannot write to a prototype', () => {
    const made = withPointer({}, '/__proto__/polluted', 1) as object;
    expect(Object.hasOwn(made, '__proto__')).to.equal(true);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    expect(pickFields(JSON.parse('{"__proto__":{"a":1},"b":2}'), ['/b', '/toString'])).to.deep.equal({ b: 2 });
    const picked = pickFields(JSON.parse('{"__proto__":{"a":1}}'), ['/__proto__']) as object;
    expect(Object.getPrototypeOf(picked)).to.equal(Object.prototype);
    expect(Object.hasOwn(picked, '__proto__')).to.equal(true);
  });
});
