import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../../core/errors.ts';
import { mayContainDotSegment } from '../../../core/tools/path-segment.ts';
import { TemplateSyntaxError } from '../../../core/tools/template.ts';
import { parsePathTemplate, renderUrl } from '../../../core/tools/url.ts';
import { failureOf } from './samples.ts';

const BASE = 'https://api.acme.example/v1';

function render(template: string, values: Record<string, unknown>, base = BASE): string {
  const { address, query } = renderUrl(base, parsePathTemplate(template), (name) => values[name]);
  return query === '' ? address : `${address}?${query}`;
}

/** Ways to leave a path segment, collected from traversal and URL-parser vector lists. */
const TRAVERSALS = [
  ...['.', '..', '../', '..\\', '../../../etc/passwd', '/etc/passwd', '\\', '/', '//evil.example', '\\\\evil.example'],
  ...[
    '%2e',
    '%2e%2e',
    '%2E%2E%2F',
    '.%2e',
    '%2e.',
    '..%2f',
    '..%5c',
    '%2f',
    '%5c',
    '%252e%252e',
    '%252f',
    '%25252e%25252e',
  ],
  ...[
    '..%252f',
    '%252e%252e%252f',
    '%c0%ae%c0%ae/',
    'a/../b',
    'a/..',
    './a',
    'a/./b',
    'a\\..\\b',
    'https://evil.example/',
  ],
  ...['\u0000', 'a\u0000b', '%00', '%2500', 'a\r\nHost: evil.example', '\t..', '\n', '%0d%0a', '\u007f', '\ud800', ''],
];

/** Segments that servers read as `..`, because they cut path parameters, decode too often, or fold characters. */
const CLIMBING = [
  ...[
    '..;',
    '.;',
    '..;a=b',
    '..;;',
    '%2e%2e;',
    '.%2e;x',
    '..%3b',
    '%2e%2e%3b',
    '%2E%2E%3Bx',
    '..%253b',
    '%252e%252e%253b',
  ],
  ...['..%3f', '..%23', '..?', '..#', '..?a', '..%20', '.. ', ' ..', '%20..;', '..%3b%2f', '..;%5c'],
  ...[
    '．．',
    '．',
    '‥',
    '．．;',
    '%c0%ae',
    '%c0%ae%c0%ae',
    '%C0%AE.',
    '%e0%80%ae.',
    '%f0%80%80%ae%f0%80%80%ae',
    '%uff0e%uff0e',
    '%ef%bc%8e%ef%bc%8e',
    '%EF%BC%8E.;x',
    '%25ef%25bc%258e.',
    '%e2%80%a5',
    '..\u200b',
    '.\u00ad.',
    '..%e2%80%8b',
    '..%c2%a0',
    '..／x',
    'x／..',
    '..∕x',
    '..%ef%bc%8fx',
    '..%u2215x',
    '%u002e%u002e',
    '.%u002E;',
    '%c0%af',
  ],
];

/** Values that look dangerous but are ordinary text within one segment. */
const HARMLESS = [
  ...[';..', 'a;..', '..a;b', 'v1.0;x=..', '…', '. .', '%25', '%c3%a9', '%u0041', '資料／a', '%e8%b3%87', '%ff%fe'],
  ...[
    '...',
    '..a',
    'a..',
    'a.b',
    '@evil.example',
    'evil.example',
    '?x=1',
    '#frag',
    'a b',
    'ü',
    '日本',
    '😀',
    'a;b',
    'a,b',
    'a:b',
  ],
  ...['[::1]', "'", '"', '<x>', '|', '^', '`', '{x}', '%', '100%', '%zz', '\u202e', '／', '＼', '~', '*', '()', '+'],
];

describe('The address of a call stays inside its template (E1)', () => {
  it('a value becomes one segment, percent-encoded', () => {
    expect(render('/users/{id}/posts', { id: 'a b?c#d' })).to.equal(`${BASE}/users/a%20b%3Fc%23d/posts`);
  });

  it('a slash within a value is encoded, and its parts may not be dot segments', () => {
    expect(render('/projects/{id}/issues', { id: 'group/sub group/project' })).to.equal(
      `${BASE}/projects/group%2Fsub%20group%2Fproject/issues`,
    );
    for (const id of ['a/../b', '../a', 'a/..', 'a/%2e%2e/b', 'a/./b', 'a//b', '/a', 'a/', 'a%2fb', 'a/b%5c']) {
      expect(failureOf(() => render('/projects/{id}', { id })).fields, id).to.deep.equal(['tool_input.id']);
    }
  });

  it('traversal in a segment is refused, and the input is named', () => {
    for (const value of TRAVERSALS) {
      expect(
        failureOf(() => render('/users/{id}', { id: value })),
        JSON.stringify(value),
      ).to.deep.equal({
        code: 'INVALID_TOOL_INPUT',
        fields: ['tool_input.id'],
      });
    }
  });

  it('L1: a value that some server reads as a dot segment is refused', () => {
    for (const value of CLIMBING) {
      const refused = { code: 'INVALID_TOOL_INPUT', fields: ['tool_input.id'] };
      expect(
        failureOf(() => render('/users/{id}', { id: value })),
        JSON.stringify(value),
      ).to.deep.equal(refused);
      expect(
        failureOf(() => render('/files/{+id}', { id: `a/${value}/b` })),
        value,
      ).to.deep.equal(refused);
      expect(
        failureOf(() => render('{+id}', { id: `/a/${value}` })),
        value,
      ).to.deep.equal(refused);
    }
  });

  it('L1: raw paths and base addresses with an encoded slash cannot traverse either', () => {
    for (const path of ['/a%2f..%2fb', '/a%5c..', '/a%ef%bc%8f..', '/a/..%e2%80%8b/b', '/x／..']) {
      expect(mayContainDotSegment(path), path).to.equal(true);
    }
    for (const path of ['/a%2fb', '/a/b.c/%20', '/資料', '/a..b/%e8%b3%87'])
      expect(mayContainDotSegment(path), path).to.equal(false);
  });

  it('L1: values do not form a dot segment together with each other or the template', () => {
    for (const [template, values] of [
      ['/users/..{a}', { a: ';x' }],
      ['/users/{a}{b}', { a: '', b: '..' }],
      ['/users/.{a}/b', { a: '%2e' }],
      ['/users{/a*}', { a: ['b', '..;'] }],
      ['/users/{a}.', { a: '.' }],
      ['/users{;a}/..;x{b}', { a: 1, b: 'y' }],
    ] as const) {
      expect(() => render(template, { ...values }), template).to.throw();
    }
    for (const template of ['/a/..;/b', '/..;x', '/a/.;b/{c}', '/a/..;{c}']) {
      expect(() => parsePathTemplate(template), template).to.throw(TemplateSyntaxError, 'dot segment');
    }
    expect(render('/v1;x=1/{a}', { a: 'b' })).to.equal(`${BASE}/v1;x=1/b`);
  });

  it('harmless text becomes one segment and arrives unchanged', () => {
    for (const value of HARMLESS) {
      const url = new URL(render('/users/{id}/posts', { id: value }));
      const segments = url.pathname.split('/');
      expect(url.origin, value).to.equal('https://api.acme.example');
      expect(segments, value).to.have.length(5);
      expect(decodeURIComponent(segments[3] ?? ''), value).to.equal(value);
    }
  });

  it('origin, prefix and number of segments stay the same for all values', () => {
    const nasty = fc.constantFrom(...TRAVERSALS, ...HARMLESS);
    const value = fc.oneof(
      nasty,
      fc.string({ unit: 'binary' }),
      fc.array(nasty, { maxLength: 4 }).map((parts) => parts.join('')),
    );
    const template = '/users/{id}/files/{name}.json{?q,list*}';
    let rendered = 0;
    fc.assert(
      fc.property(value, value, value, fc.array(value, { maxLength: 3 }), (id, name, q, list) => {
        let text: string;
        try {
          text = render(template, { id, name, q, list });
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError);
          return;
        }
        rendered++;
        const url = new URL(text);
        expect(url.href).to.equal(text);
        expect(url.origin).to.equal('https://api.acme.example');
        expect(url.hash + url.username + url.password).to.equal('');
        expect(url.pathname).to.match(/^\/v1\/users\/[^/]+\/files\/[^/]+\.json$/);
        expect([...url.searchParams.keys()].every((key) => key === 'q' || key === 'list')).to.equal(true);
        expect(url.searchParams.get('q')).to.equal(q.toWellFormed());
      }),
      { numRuns: 2000 },
    );
    expect(rendered).to.be.greaterThan(100);
  });

  it('a path of several segments stays below the base address', () => {
    expect(render('{+path}', { path: '/a/b%20c/' })).to.equal(`${BASE}/a/b%20c/`);
    expect(render('/contents/{+path}', { path: 'src/lib' })).to.equal(`${BASE}/contents/src/lib`);
    expect(render('/contents/{+path}', { path: '' })).to.equal(`${BASE}/contents/`);
    // This is a valid name of a branch. In a path that a caller writes as a whole it would be an error.
    expect(render('/branches/{+name}', { name: 'fix/#1?' })).to.equal(`${BASE}/branches/fix/%231%3F`);
    const refused = [
      'a',
      '//a',
      '/a//b',
      '/../a',
      '/a/..',
      '/a/%2e%2e/b',
      '/a?x',
      '/a#x',
      '/a\\b',
      '/a%2fb',
      '/%5c',
      '@evil',
      '.evil',
      ':8080/',
    ];
    for (const path of refused)
      expect(failureOf(() => render('{+path}', { path })).code, path).to.equal('INVALID_TOOL_INPUT');
    expect(failureOf(() => render('/contents/{+path}', { path: '/a' })).code).to.equal('INVALID_TOOL_INPUT');
  });

  it('the base address is a prefix of the URL for any path value', () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '..', '%2e', '\\', '@', ':', '?', '#', 'a', '%', '[', ';', '//'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        try {
          const url = new URL(render('{+path}', { path: `/${pieces.join('')}` }));
          expect(url.origin).to.equal('https://api.acme.example');
          expect(url.pathname.startsWith('/v1/')).to.equal(true);
          expect(url.pathname).to.not.match(/\/\.{1,2}(\/|$)|\/\/|\\|%2f|%5c/i);
          expect(url.search + url.hash).to.equal('');
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('rejects any address that the URL parser would change', () => {
    for (const base of [
      'https://api.acme.example/a/../b',
      'https://u:p@api.acme.example',
      'https://api.acme.example/x#',
      'https://api.acme.example\\x',
    ]) {
      expect(failureOf(() => render('/users', {}, base)).code, base).to.equal('INVALID_TOOL_INPUT');
    }
  });

  it('a text that is encoded many times is refused quickly', () => {
    for (const id of [`%${'25'.repeat(3000)}2e`, `%${'25'.repeat(100_000)}`]) {
      expect(failureOf(() => render('/users/{id}', { id })).fields).to.deep.equal(['tool_input.id']);
    }
  });

  it('a missing value in the path is refused, an optional segment may be absent', () => {
    expect(failureOf(() => render('/users/{id}', {})).fields).to.deep.equal(['tool_input.id']);
    expect(render('/users{/id}', {})).to.equal(`${BASE}/users`);
  });

  it('nested values and very long ones are refused', () => {
    expect(failureOf(() => render('/users{?q}', { q: { a: { b: 1 } } })).fields).to.deep.equal(['tool_input.q']);
    expect(failureOf(() => render('/users{?q}', { q: 'x'.repeat(9000) })).code).to.equal('INVALID_TOOL_INPUT');
  });

  it('a value cannot add a query parameter', () => {
    const url = new URL(render('/search?type=code{&q}', { q: 'a&type=user#x' }));
    expect([...url.searchParams]).to.deep.equal([
      ['type', 'code'],
      ['q', 'a&type=user#x'],
    ]);
  });

  it('templates that would allow another address are refused', () => {
    for (const template of [
      'users',
      '{id}',
      '/a/../b',
      '//a',
      '/a{#frag}',
      '/a#b',
      '/a{?q}{#f}',
      '/a?q={+q}',
      '/a b',
      '/x{+path}',
      '/a%2fb',
    ]) {
      expect(() => parsePathTemplate(template), template).to.throw(TemplateSyntaxError);
    }
  });
});
