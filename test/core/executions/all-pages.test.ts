import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { type PageLimits, readAllPages } from '../../../core/executions/all-pages.ts';
import type { PreparedCall } from '../../../core/tools/call.ts';
import type { ToolOutcome } from '../../../core/tools/outcome.ts';
import { nextCursor } from '../../../core/tools/pagination.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import { prepared, toolOf } from '../tools/samples.ts';

const PAGED = toolOf({
  pagination: { style: 'page', request: { in: 'query', name: 'page' }, response: { items: '/items' } },
  response: { select: '/items' },
});
const LIMITS: PageLimits = { pages: 10, bytes: 10_000, timeMs: 1_000 };

describe('all pages of a result', () => {
  let now: number;
  let calls: unknown[];

  beforeEach(() => {
    now = 0;
    calls = [];
  });

  /** A provider that returns the pages in order, then an empty one. Each call takes 100 ms. */
  function provider(pages: (unknown[] | ToolOutcome)[], shape: (items: unknown[]) => unknown = (items) => items) {
    return async (call: PreparedCall): Promise<ToolOutcome> => {
      calls.push(call.at);
      now += 100;
      const number = call.at === undefined ? 0 : Number(call.at) - 1;
      const page = pages[number] ?? [];
      if (!Array.isArray(page)) return page;
      const cursor = nextCursor(PAGED, {}, call.at, { link: undefined, body: { items: page } });
      return { ok: true, data: shape(page), nextCursor: cursor, upstreamStatus: 200 };
    };
  }

  async function read(run: ReturnType<typeof provider>, tool: Tool = PAGED, limits: Partial<PageLimits> = {}) {
    const outcome = await readAllPages(prepared({ tool }), run, () => now, { ...LIMITS, ...limits });
    if (!outcome.ok) throw new Error(outcome.error.message);
    return outcome;
  }

  it('are joined in order up to the last one', async () => {
    const { data, pages, nextCursor } = await read(provider([[1, 2], [3], [4]]));
    expect(data).to.deep.equal([1, 2, 3, 4]);
    expect(pages).to.deep.include({ count: 4, complete: true });
    expect(nextCursor).to.equal(undefined);
    expect(calls).to.deep.equal([undefined, 2, 3, 4]);
  });

  it("are joined if the list is nested in the selected data, and keep the first page's other members", async () => {
    const whole = toolOf({ ...PAGED, response: {} });
    const shape = (items: unknown[]) => ({ items, other: [0], total: 9 });
    expect((await read(provider([[1], [2]], shape), whole)).data).to.deep.equal({
      items: [1, 2],
      other: [0],
      total: 9,
    });
    const picked = (items: unknown[]) => ({ rows: items, total: 9 });
    expect((await read(provider([[1], [2]], picked), whole)).data).to.deep.equal({ rows: [1, 2], total: 9 });
  });

  it('keep what was read if the next page cannot be requested, for example because too many refreshes are running', async () => {
    const run = provider([[1], [2]]);
    const part = await read(async (call) => {
      if (call.at !== undefined) throw new ApiError('SERVER_BUSY', 'No slot.');
      return await run(call);
    });
    expect(part.data).to.deep.equal([1]);
    expect(part.pages).to.deep.include({ count: 1, complete: false });
    expect(part.pages?.statement).to.include('No slot.');
    expect(part.nextCursor).to.be.a('string');
  });

  for (const [what, limits, count, why] of [
    ['pages', { pages: 2 }, 2, /2 pages/],
    ['bytes', { bytes: 8 }, 2, /8 bytes/],
    ['time', { timeMs: 150 }, 2, /time/],
  ] as const) {
    it(`stop at the limit of ${what}, and the cursor points to the first missing item`, async () => {
      const run = provider([[1], [2], [3], [4], [5]]);
      const part = await read(run, PAGED, limits);
      expect(part.data).to.deep.equal([1, 2, 3].slice(0, count));
      expect(part.pages).to.deep.include({ count, complete: false });
      expect(part.pages?.statement).to.match(why);
      const rest = await readAllPages(
        { ...prepared({ tool: PAGED, toolInput: { cursor: part.nextCursor } }) },
        run,
        () => 0,
        LIMITS,
      );
      expect(rest.ok && rest.data).to.deep.equal([1, 2, 3, 4, 5].slice(count));
    });
  }

  it('stop at a page that fails, and keep the previous pages', async () => {
    const failure: ToolOutcome = {
      ok: false,
      sent: true,
      error: { kind: 'upstream_server_error', retryable: true, message: 'The provider returned 500' },
    };
    const { data, pages, nextCursor } = await read(provider([[1], failure, [3]]));
    expect([data, pages?.count, pages?.complete]).to.deep.equal([[1], 1, false]);
    expect(pages?.statement).to.contain('The provider returned 500');
    expect(nextCursor).to.be.a('string');
    const outcome = await readAllPages(prepared({ tool: PAGED }), provider([failure]), () => now, LIMITS);
    expect(outcome).to.equal(failure);
  });

  it('stop when the provider repeats a cursor, or when the response has no list to join', async () => {
    const first = nextCursor(PAGED, {}, undefined, { link: undefined, body: { items: [1] } });
    const circle = await read(async () => ({ ok: true, data: [1], nextCursor: first, upstreamStatus: 200 }));
    expect([circle.pages?.count, circle.pages?.complete]).to.deep.equal([2, false]);
    const several = await read(
      provider([[1], [2]], (items) => ({ a: items, b: items })),
      toolOf({ ...PAGED, response: {} }),
    );
    expect([several.pages?.count, several.pages?.complete]).to.deep.equal([1, false]);
  });

  it('report what was removed from each page, with pointers into the joined list', async () => {
    const whole = toolOf({ ...PAGED, response: {} });
    const cutPages: ToolOutcome[] = [
      {
        ok: true,
        data: { items: [1, 'ab'], note: 'n' },
        nextCursor: nextCursor(PAGED, {}, undefined, { link: undefined, body: { items: [1] } }),
        upstreamStatus: 200,
        truncated: {
          statement: 'Cut.',
          cuts: [
            { path: '/note', kept: 1, of: 5, unit: 'characters' },
            { path: '/items/1', kept: 2, of: 9, unit: 'characters' },
            { path: '/items', kept: 2, of: 3, unit: 'items' },
          ],
        },
      },
      {
        ok: true,
        data: { items: [{ text: 'c' }], note: 'other' },
        upstreamStatus: 200,
        truncated: {
          statement: 'Cut more.',
          cuts: [
            { path: '/items', kept: 1, of: 4, unit: 'items' },
            { path: '/items/0/text', kept: 1, of: 8, unit: 'characters' },
            { path: '/note', kept: 5, of: 6, unit: 'characters' },
          ],
        },
      },
    ];
    const { data, truncated } = await read(
      async (call) => cutPages[call.at === undefined ? 0 : 1] as ToolOutcome,
      whole,
    );
    expect(data).to.deep.equal({ items: [1, 'ab', { text: 'c' }], note: 'n' });
    expect(truncated).to.deep.equal({
      statement: 'Cut. Cut more.',
      cuts: [
        { path: '/items', kept: 3, of: 7, unit: 'items' },
        { path: '/note', kept: 1, of: 5, unit: 'characters' },
        { path: '/items/1', kept: 2, of: 9, unit: 'characters' },
        { path: '/items/2/text', kept: 1, of: 8, unit: 'characters' },
      ],
    });
  });

  it('report that a page was truncated', async () => {
    const truncated = { statement: 'Cut.', cuts: [] };
    const cut = await read(async () => ({ ok: true, data: [1], truncated, upstreamStatus: 200 }));
    expect(cut.truncated).to.deep.equal(truncated);
  });
});
