import { expect } from 'chai';
import { pageOf } from '../../../core/tools/call.ts';
import { nextLink } from '../../../core/tools/link-header.ts';
import type { CursorValue } from '../../../core/tools/pagination.ts';
import { nextCursor, openCursor } from '../../../core/tools/pagination.ts';
import { renderRequest } from '../../../core/tools/request.ts';
import type { Tool, ToolPagination } from '../../../core/tools/tool.ts';
import { failureOf, prepared, toolOf, writingTool } from './samples.ts';

const NOTHING = { parts: [], secrets: [] };

function paged(pagination: ToolPagination): Tool {
  return toolOf({ pagination });
}

/** Returns the decoded position of the next page after a response. */
function next(
  tool: Tool,
  answer: { link?: string; body?: unknown },
  at?: CursorValue,
  input = {},
): CursorValue | undefined {
  const cursor = nextCursor(tool, input, at, { link: answer.link, body: answer.body });
  return cursor === undefined ? undefined : openCursor(tool, cursor);
}

function urlOf(tool: Tool, at: CursorValue): string {
  const cursor = Buffer.from(JSON.stringify({ tool: tool.name, at })).toString('base64url');
  return renderRequest(prepared({ tool, toolInput: { cursor } }), NOTHING).url;
}

describe('Pagination', () => {
  it('by a cursor in the body handles a present, absent, null and empty cursor', () => {
    const tool = paged({
      style: 'cursor',
      request: { in: 'query', name: 'cursor' },
      response: { cursor: '/meta/next' },
    });
    expect(next(tool, { body: { meta: { next: 'abc=' } } })).to.equal('abc=');
    for (const meta of [{}, { next: null }, { next: '' }, undefined])
      expect(next(tool, { body: { meta } })).to.equal(undefined);
    expect(urlOf(tool, 'abc=')).to.equal('https://api.acme.example/v1/things?cursor=abc%3D');
  });

  it('continues after a call that was prepared for another page', () => {
    const tool = paged({ style: 'page', request: { in: 'query', name: 'page' }, response: {} });
    const first = prepared({ tool });
    const cursor = nextCursor(tool, {}, undefined, { link: undefined, body: {} }) ?? '';
    expect(renderRequest(first, NOTHING).url).to.equal('https://api.acme.example/v1/things');
    expect(renderRequest(pageOf(first, cursor), NOTHING).url).to.equal('https://api.acme.example/v1/things?page=2');
  });

  it("uses has_more and the last item's id", () => {
    const response = { items: '/data', item_cursor: '/id', has_more: '/has_more' };
    const tool = paged({ style: 'cursor', request: { in: 'query', name: 'starting_after' }, response });
    expect(next(tool, { body: { has_more: true, data: [{ id: 'a' }, { id: 'b' }] } })).to.equal('b');
    expect(next(tool, { body: { has_more: false, data: [{ id: 'a' }] } })).to.equal(undefined);
    expect(next(tool, { body: { has_more: true, data: [] } })).to.equal(undefined);
  });

  it('puts a cursor into the JSON body, and creates its parent objects', () => {
    const tool = writingTool({
      pagination: { style: 'cursor', request: { in: 'body', name: '/variables/after' }, response: { cursor: '/end' } },
      request: {
        method: 'POST',
        path: '/graphql',
        body: { format: 'json', value: { query: 'q', variables: { first: { $input: 'first' } } } },
      },
    });
    const cursor = nextCursor(tool, {}, undefined, { link: undefined, body: { end: 'X' } });
    const body = (toolInput: object) => JSON.parse(String(renderRequest(prepared({ tool, toolInput }), NOTHING).body));
    expect(body({ cursor, first: 5 })).to.deep.equal({ query: 'q', variables: { first: 5, after: 'X' } });
    expect(body({ cursor })).to.deep.equal({ query: 'q', variables: { after: 'X' } });
    expect(body({ first: 5 })).to.deep.equal({ query: 'q', variables: { first: 5 } });
  });

  it('by page number ends at a short page, at the last of a known number, or at has_more false', () => {
    const request = { in: 'query' as const, name: 'page', page_size_input: 'size' };
    const short = paged({ style: 'page', request, response: { items: '' } });
    expect(next(short, { body: [1, 2] }, undefined, { size: 2 })).to.equal(2);
    expect(next(short, { body: [1, 2] }, 7, { size: 2 })).to.equal(8);
    expect(next(short, { body: [1] }, 2, { size: 2 })).to.equal(undefined);
    expect(next(short, { body: [] }, 2)).to.equal(undefined);
    const counted = paged({ style: 'page', request: { ...request, first: 0 }, response: { total: '/pages' } });
    expect([next(counted, { body: { pages: 2 } }), next(counted, { body: { pages: 2 } }, 1)]).to.deep.equal([
      1,
      undefined,
    ]);
    const flagged = paged({ style: 'page', request, response: { has_more: '/more' } });
    expect([next(flagged, { body: { more: true } }), next(flagged, { body: { more: false } })]).to.deep.equal([
      2,
      undefined,
    ]);
    expect(urlOf(short, 3)).to.equal('https://api.acme.example/v1/things?page=3');
  });

  it('by offset counts the returned items', () => {
    const request = { in: 'query' as const, name: 'offset', page_size_input: 'limit' };
    const tool = paged({ style: 'offset', request, response: { items: '/rows', total: '/total' } });
    expect(next(tool, { body: { rows: [1, 2, 3], total: 8 } })).to.equal(3);
    expect(next(tool, { body: { rows: [1, 2, 3], total: 8 } }, 3)).to.equal(6);
    expect(next(tool, { body: { rows: [1, 2], total: 8 } }, 6)).to.equal(undefined);
    const untold = paged({ style: 'offset', request, response: { items: '/rows' } });
    expect(next(untold, { body: { rows: [1, 2] } }, undefined, { limit: 2 })).to.equal(2);
    expect(next(untold, { body: { rows: [1] } }, undefined, { limit: 2 })).to.equal(undefined);
  });

  it('by offset continues by whole pages until one is empty if the API filters a page after selecting it', () => {
    const request = { in: 'query' as const, name: 'startAt', page_size_input: 'limit', filtered: true };
    const tool = paged({ style: 'offset', request, response: { items: '/rows' } });
    expect(next(tool, { body: { rows: [1] } }, undefined, { limit: 50 })).to.equal(50);
    expect(next(tool, { body: { rows: [1, 2] } }, 50, { limit: 50 })).to.equal(100);
    expect(next(tool, { body: { rows: [] } }, 100, { limit: 50 })).to.equal(undefined);
  });

  it('by Link header uses only the query of the address, regardless of its host', () => {
    const tool = paged({ style: 'link_header' });
    const link =
      '<https://evil.example/other?page=2&per_page=5>; rel="next", <https://api.acme.example/x?page=9>; rel="last"';
    expect(next(tool, { link })).to.equal('page=2&per_page=5');
    expect(next(tool, { link: '<https://api.acme.example/x?page=1>; rel="prev"' })).to.equal(undefined);
    expect(urlOf(tool, 'page=2&per_page=5')).to.equal('https://api.acme.example/v1/things?page=2&per_page=5');
  });

  it('uses an address in the body, absolute or relative', () => {
    const tool = paged({ style: 'next_url', response: { cursor: '/next' } });
    expect(next(tool, { body: { next: '/2010/x.json?PageToken=P%2B1&Page=1' } })).to.equal('PageToken=P%2B1&Page=1');
    expect(next(tool, { body: { next: 'https://api.acme.example/x?$skip=2#f' } })).to.equal('$skip=2');
    for (const address of [null, '', '/x', 7, 'http://[bad'])
      expect(next(tool, { body: { next: address } })).to.equal(undefined);
  });

  it('returns cursors without credentials, even if an address in the response contains one', () => {
    const tool = paged({ style: 'link_header' });
    const link = '<https://api.acme.example/x?api_key=SECRET&page=2>; rel=next';
    const cursor = nextCursor(tool, {}, undefined, { link, body: undefined }, ['api_key']) ?? '';
    expect(openCursor(tool, cursor)).to.equal('page=2');
    expect(
      nextCursor(tool, {}, undefined, { link: '<https://a.example/?after=[secret]>; rel=next', body: undefined }),
    ).to.equal(undefined);
  });

  it('refuses a cursor that this tool did not return', () => {
    const tool = paged({ style: 'page', request: { in: 'query', name: 'page' }, response: { items: '' } });
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const foreign = ['x', '%', encode(2), encode({ at: 2 }), encode({ tool: 'other', at: 2 })];
    const twisted = [-1, 1.5, '2', null, 1e300, {}].map((at) => encode({ tool: tool.name, at }));
    for (const cursor of [...foreign, ...twisted]) {
      expect(failureOf(() => openCursor(tool, cursor)).fields, cursor).to.deep.equal(['tool_input.cursor']);
    }
  });

  it('refuses a cursor that leads outside the address of the tool', () => {
    const tool = paged({ style: 'link_header' });
    for (const at of ['page=2#@evil.example', 'a b', '/../../x', '@evil.example', '\\..', 'x=1\r\nHost: evil']) {
      const cursor = Buffer.from(JSON.stringify({ tool: tool.name, at })).toString('base64url');
      try {
        const url = new URL(renderRequest(prepared({ tool, toolInput: { cursor } }), NOTHING).url);
        expect([url.origin, url.pathname, url.hash]).to.deep.equal(['https://api.acme.example', '/v1/things', '']);
      } catch (error) {
        expect(error).to.have.property('code', 'INVALID_TOOL_INPUT');
      }
    }
  });
});

describe('The Link header', () => {
  it('is read in the forms that servers write', () => {
    const forms: [string | undefined, string | undefined][] = [
      ['<https://a.example/?p=2>; rel="next"', 'https://a.example/?p=2'],
      ['<https://a.example/?p=1>; rel="prev", <https://a.example/?p=3>; rel="next"', 'https://a.example/?p=3'],
      ['<https://a.example/?a=1,2>; title="x, y"; rel=next', 'https://a.example/?a=1,2'],
      ['<https://a.example/>; rel="last next"', 'https://a.example/'],
      ['<https://a.example/>;REL=NEXT', 'https://a.example/'],
      [
        '<https://a.example/> ; title="a \\"; rel=next" ; rel = "last", <https://b.example/?q="x">; rel=next',
        'https://b.example/?q="x"',
      ],
      ['<https://a.example/>; rel="nextish"', undefined],
      ['https://a.example/; rel=next', undefined],
      ['', undefined],
      [undefined, undefined],
    ];
    for (const [header, expected] of forms) expect(nextLink(header), header).to.equal(expected);
  });

  it('takes linear time for hostile headers', () => {
    expect(nextLink(`<${'a'.repeat(30_000)}`)).to.equal(undefined);
    expect(nextLink(`<a>${' ;'.repeat(15_000)}`)).to.equal(undefined);
    expect(nextLink(`<a>${'; x'.repeat(15_000)}`)).to.equal(undefined);
    expect(nextLink('<'.repeat(30_000))).to.equal(undefined);
    expect(nextLink(`<a>; x${' '.repeat(60_000)}`)).to.equal(undefined);
    expect(nextLink(`<a>; rel=${' '.repeat(60_000)}x`)).to.equal(undefined);
  });
});
