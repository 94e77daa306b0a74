import { expect } from 'chai';
import { applyOverlay } from '../../../core/openapi-conversion/overlay.ts';
import { PathWork } from '../../../core/openapi-conversion/path-work.ts';
import { documentOf, importText, propertiesOf, query } from './samples.ts';

const work = () => new PathWork(300_000, 300_000);

function apply(document: object, ...actions: object[]): { document: Record<string, unknown>; unused: string[] } {
  const copy = structuredClone(document) as Record<string, unknown>;
  return { unused: applyOverlay(copy, { overlay: '1.1.0', info: {}, actions }, 'overlays[0]', work()), document: copy };
}

describe('An overlay', () => {
  it('merges objects, appends to lists, replaces scalars', () => {
    const { document } = apply(
      { info: { a: 1, b: { c: 2 } }, tags: [1] },
      { target: '$.info', update: { b: { d: 3 } } },
      { target: '$.tags', update: 2 },
      { target: '$.info.a', update: 9 },
    );
    expect(document).to.deep.equal({ info: { a: 9, b: { c: 2, d: 3 } }, tags: [1, 2] });
  });

  it('removes members and items, also several of one list', () => {
    const { document } = apply(
      { list: [{ x: 1 }, { x: 2 }, { x: 1 }], gone: {} },
      { target: '$.list[?@.x == 1]', remove: true },
      { target: '$.gone', remove: true },
    );
    expect(document).to.deep.equal({ list: [{ x: 2 }] });
  });

  it('copies one node to another (1.1)', () => {
    const { document } = apply({ a: { x: 1 }, b: { y: 2 } }, { target: '$.b', copy: '$.a' });
    expect(document['b']).to.deep.equal({ x: 1, y: 2 });
  });

  it('finds keys that contain quotes and backslashes', () => {
    const { document } = apply(
      { paths: { "/users('{id}')\\": { get: {} } } },
      { target: '$.paths.*.get', update: { deprecated: true } },
    );
    expect(document).to.deep.equal({ paths: { "/users('{id}')\\": { get: { deprecated: true } } } });
  });

  it('reports targets that selected nothing', () => {
    expect(apply({}, { target: '$.nothing', update: {} }).unused).to.deep.equal(['$.nothing']);
  });

  it('rejects an invalid overlay or path, and names it', () => {
    expect(() => applyOverlay({}, { overlay: '2.0.0', actions: [] }, 'overlays[0]', work())).to.throw(
      'overlays[0] must be an Overlay',
    );
    expect(() => apply({}, { target: '$[', update: {} })).to.throw('overlays[0].actions[0].target');
  });

  it('M4: is refused by name if it takes too much work', () => {
    const list = { a: {}, b: Array.from({ length: 300 }, () => ({})) };
    const large = Array.from({ length: 1000 }, () => 0);
    for (const actions of [
      Array.from({ length: 12 }, () => ({ target: '$..*', update: { c: [1, 2, 3] } })),
      [{ target: '$.b.*', update: { c: large } }],
      [{ target: '$..[?count($..*) > 0]', update: {} }],
      [{ target: "$.texts[?search(@, '(a|b|c)+d')]", update: {} }],
    ]) {
      expect(() => apply({ ...list, texts: Array(50).fill('abc'.repeat(2000)) }, ...actions)).to.throw(
        'selects too many nodes',
      );
    }
    const levels = (count: number): object => (count === 0 ? { end: 0 } : { a: levels(count - 1) });
    const deeper = { target: '$..end', update: levels(90) };
    expect(apply({ end: 0 }, deeper, deeper).document).to.have.keys('end');
    expect(() => apply({ end: 0 }, deeper, deeper, deeper)).to.throw('nests the document more than 200 levels');
  });

  it('M4: changes long lists, and keys with any name', () => {
    const zeros = Array.from({ length: 40_000 }, () => 0);
    const { document } = apply(
      { list: [1], gone: zeros, zeros },
      { target: '$.list', copy: '$.zeros' },
      { target: '$.gone[?@ == 0]', remove: true },
    );
    expect((document['list'] as unknown[]).length).to.equal(40_001);
    expect(document['gone']).to.deep.equal([]);
    const update = JSON.parse('{"__proto__": {"polluted": true}}');
    const changed = apply({ info: {} }, { target: '$.info', update }).document['info'] as Record<string, unknown>;
    expect([Object.keys(changed), changed['polluted']]).to.deep.equal([['__proto__'], undefined]);
  });

  it('selects, renames and corrects tools', async () => {
    const text = documentOf(
      { '/a': { post: { parameters: [query('q'), query('v'), query('w')] } }, '/b': { get: {} } },
      { 'x-tool': false },
    );
    const update = {
      'x-tool': {
        name: 'acme_find',
        title: 'Find',
        description: 'Finds things.',
        tags: ['search'],
        hints: { read_only: true },
      },
      'x-tool-params': { rename: { q: 'text' }, hide: ['w'], fix: { v: 2 } },
      'x-tool-pagination': { style: 'next_url', response: { cursor: '/next' } },
      'x-tool-response': { select: '/data', cap: 4096 },
      'x-tool-error-when': [{ when: { pointer: '/ok', equals: false }, default: 'upstream_bad_request' }],
      'x-tool-scopes': [['read']],
    };
    const overlay = JSON.stringify({ overlay: '1.0.0', info: {}, actions: [{ target: "$.paths['/a'].post", update }] });
    const { tools } = await importText(text, { overlays: [{ name: 'o.json', text: overlay }] });
    expect(tools).to.have.lengthOf(1);
    const tool = tools[0]?.tool as (typeof tools)[0]['tool'];
    expect(tool).to.deep.include({
      name: 'acme_find',
      title: 'Find',
      description: 'Finds things.',
      tags: ['search'],
      scopes: [['read']],
    });
    expect(tool.hints).to.include({ read_only: true, idempotent: true, destructive: false });
    expect([tool.request.query, Object.keys(propertiesOf(tool))]).to.deep.equal([{ v: 2 }, ['text']]);
    expect(tool.response).to.deep.equal({ select: '/data', max_bytes: 4096 });
    expect(tool.errors).to.have.lengthOf(1);
    expect(tool.pagination?.style).to.equal('next_url');
  });
});
