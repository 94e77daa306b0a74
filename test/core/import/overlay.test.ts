import { expect } from 'chai';
import { applyOverlay } from '../../../core/import/overlay.ts';
import { documentOf, importText, propertiesOf, query } from './samples.ts';

function apply(document: object, ...actions: object[]): { document: Record<string, unknown>; unused: string[] } {
  const copy = structuredClone(document) as Record<string, unknown>;
  return { unused: applyOverlay(copy, { overlay: '1.1.0', info: {}, actions }, 'overlays[0]'), document: copy };
}

describe('An overlay', () => {
  it('merges objects, adds to lists, replaces plain values', () => {
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

  it('finds keys that hold quotes and backslashes', () => {
    const { document } = apply(
      { paths: { "/users('{id}')\\": { get: {} } } },
      { target: '$.paths.*.get', update: { deprecated: true } },
    );
    expect(document).to.deep.equal({ paths: { "/users('{id}')\\": { get: { deprecated: true } } } });
  });

  it('says which targets selected nothing', () => {
    expect(apply({}, { target: '$.nothing', update: {} }).unused).to.deep.equal(['$.nothing']);
  });

  it('refuses what is no overlay or no path, by name', () => {
    expect(() => applyOverlay({}, { overlay: '2.0.0', actions: [] }, 'overlays[0]')).to.throw(
      'overlays[0] must be an Overlay',
    );
    expect(() => apply({}, { target: '$[', update: {} })).to.throw('overlays[0].actions[0].target');
  });

  it('chooses, names and corrects tools', async () => {
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
