import { expect } from 'chai';
import { importDocument } from '../../../core/openapi-conversion/import-document.ts';
import { LOAD_LIMITS, loadDocument } from '../../../core/openapi-conversion/load.ts';

const load = (text: string) => loadDocument([{ name: 'a.yaml', text }]);

describe('Loading a document', () => {
  it('accepts JSON with a byte order mark, and YAML', () => {
    expect(load('\uFEFF{"openapi":"3.1.0"}')).to.deep.equal({ openapi: '3.1.0' });
    expect(load('openapi: 3.1.0\npaths: {200: x}')).to.deep.equal({ openapi: '3.1.0', paths: { 200: 'x' } });
  });

  it('refuses YAML aliases that multiply, and one that contains itself', () => {
    const bomb = [
      'openapi: 3.1.0',
      'a0: &a0 [x,x,x,x,x,x,x,x,x,x]',
      ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(',')}]`),
    ].join('\n');
    expect(() => load(bomb)).to.throw('cannot be parsed');
    expect(() => load('openapi: 3.1.0\na: &a\n  b: *a')).to.throw();
  });

  it('refuses excessive nesting', () => {
    const deep = `{"openapi":"3.1.0","a":${'['.repeat(LOAD_LIMITS.depth + 5)}${']'.repeat(LOAD_LIMITS.depth + 5)}}`;
    expect(() => load(deep)).to.throw('nested more than');
  });

  it('M4: rejects YAML indicators in a row without parsing them', () => {
    const most = LOAD_LIMITS.marks;
    for (const mark of ['[', '{', '- ', '? ', ': ', '&a ', '!!a ', '---\n']) {
      expect(() => load(`openapi: 3.1.0\na: ${mark.repeat(most + 1)}`), mark).to.throw('YAML indicators in a row');
    }
    const lists = `openapi: 3.1.0\na: [${'[],'.repeat(most / 4)} x, ${'["x"],'.repeat(most)}]\nb: [${'[x],'.repeat(most)}]`;
    const { a, b } = load(`${lists}${'\n'.repeat(most + 1)}${'# note\n'.repeat(most + 1)}c: d`) as Record<
      string,
      unknown[]
    >;
    expect([a?.length, b?.length]).to.deep.equal([most / 4 + 1 + most, most]);
  });

  it('joins files that refer to each other by relative names, also through a third file', async () => {
    const files = [
      {
        name: 'api/openapi.yaml',
        text: 'openapi: 3.1.0\nservers: [{url: "https://a.example"}]\npaths: { /x: { $ref: "../paths/x.yaml" } }',
      },
      { name: 'paths/x.yaml', text: 'get: { parameters: [{ $ref: "../parts.yaml#/Q" }] }' },
      { name: 'parts.yaml', text: 'Q: { name: q, in: query, schema: { $ref: "#/S" } }\nS: { type: integer }' },
    ];
    const { tools } = await importDocument({ files, connector: 'acme' });
    expect(tools[0]?.tool.input_schema['properties']).to.deep.equal({ q: { type: 'integer' } });
  });

  it('never follows a reference to another host', async () => {
    const fetched: string[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = (async (url: string) => fetched.push(String(url))) as never;
    try {
      for (const version of [{ openapi: '3.0.0' }, { swagger: '2.0', host: 'a.example' }]) {
        const reference = { $ref: 'http://127.0.0.1:9/secret.json#/x' };
        const operation = { parameters: [reference, { name: 'q', in: 'query', schema: reference }] };
        const text = JSON.stringify({
          ...version,
          info: {},
          paths: {
            '/a': { get: operation },
            '/b': reference,
            '/c': { get: { parameters: [{ $ref: 'file:///etc/passwd' }] } },
          },
        });
        await importDocument({ files: [{ name: 'a.json', text }], connector: 'acme' });
      }
    } finally {
      globalThis.fetch = fetch;
    }
    expect(fetched).to.deep.equal([]);
  });
});
