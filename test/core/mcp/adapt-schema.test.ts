import { expect } from 'chai';
import { adaptInput, adaptOutput } from '../../../core/mcp/upstream/schema/adapt.ts';
import { headersOf, readHeaderParameters } from '../../../core/mcp/upstream/schema/header-parameters.ts';
import { subschemas } from '../../../core/mcp/upstream/schema/references.ts';
import { toWireInput } from '../../../core/mcp/upstream/schema/wire-input.ts';
import { isRecord } from '../../../core/tools/pointer.ts';
import { NON_STRICT, schemaCompiler } from '../../../core/tools/schema-compiler.ts';
import type { JsonSchema } from '../../../core/tools/tool.ts';

const LEGAL = /^[a-zA-Z0-9_.-]{1,64}$/;
const REFUSED = ['$ref', 'oneOf', 'anyOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'];

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

const ajv = schemaCompiler(undefined, NON_STRICT);

/** Returns the adapted schema after checking that it compiles. */
function adapted(schema: unknown) {
  const input = adaptInput(schema);
  if (!input) throw new Error('the schema was refused');
  ajv.compile(input.schema);
  ajv.removeSchema(input.schema);
  for (const word of REFUSED) expect(input.schema).to.not.have.property(word);
  for (const name of namesIn(input.schema)) expect(name).to.match(LEGAL);
  return input;
}

/** Whether a value is valid for the adapted schema. */
function takes(schema: unknown, value: unknown): boolean {
  return ajv.validate(adapted(schema).schema, value) as boolean;
}

function namesIn(node: unknown): string[] {
  if (!isRecord(node)) return [];
  const own = Object.keys(isRecord(node['properties']) ? node['properties'] : {});
  return [...own, ...[...subschemas(node)].flatMap(([, schema]) => namesIn(schema))];
}

const properties = (schema: JsonSchema) => schema['properties'] as Record<string, Record<string, unknown>>;

describe('X1: the input schema of an MCP tool keeps its parameters', () => {
  for (const [what, schema, lost] of [
    ['an unknown word', object({ a: { type: 'string', description: 'A.', 'x-foo': 1 } }), ['a.x-foo']],
    [
      'alternatives by what is required, within a property',
      object({ a: { type: 'object', oneOf: [{ required: ['b'] }, { required: ['c'] }] } }),
      [],
    ],
    ['an empty list of items (draft 7)', object({ a: { type: 'array', description: 'A.', items: [] } }), []],
    ['no type', { properties: { a: { description: 'A.' } } }, []],
    ['an unknown format', object({ a: { type: 'string', format: 'color' } }), ['a.format']],
    ['the format of our own files', object({ a: { type: 'object', format: 'file' } }), ['a.format']],
    ['a pattern that is none', object({ a: { type: 'string', pattern: '(' } }), ['a.pattern']],
    ['a type that is none', object({ a: { type: 'any', description: 'A.' } }), ['a.type']],
    ['required as a flag (draft 3)', object({ a: { type: 'string', required: true } }), ['a.required']],
    ['a negative length', object({ a: { type: 'string', minLength: -1 } }), ['a.minLength']],
    ['an empty enum', object({ a: { enum: [] } }), ['a.enum']],
    ['a reference to elsewhere', object({ a: { $ref: 'https://a.example/s.json', description: 'A.' } }), ['a.$ref']],
    ['a reference to nowhere', object({ a: { $ref: '#/$defs/none' } }), ['a.$ref']],
    ['a list where a schema belongs', object({ a: [1, 2] }), ['a']],
    [
      'a text where properties belong',
      { type: 'object', properties: { a: { type: 'object', properties: 'b' } } },
      ['a.properties'],
    ],
    ['strange types beside each other', object({ a: { type: ['string', 'null'], minimum: 3, items: {} } }), []],
    ['a default that does not fit', object({ a: { type: 'string', default: null } }), []],
  ] as const) {
    it(`beside ${what}`, () => {
      const input = adapted(schema);
      expect(properties(input.schema)).to.have.property('a');
      for (const place of lost) expect(input.changes.join('\n')).to.contain(`inputSchema.properties.${place} `);
      if (lost.length === 0) expect(input.changes).to.deep.equal([]);
      const { a } = schema.properties as { a: { description?: string } };
      const { description } = a;
      if (description) expect(properties(input.schema)['a']).to.include({ description });
    });
  }

  it('in the dialect that it names: draft 7', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://a.example/tool',
      ...object(
        {
          pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
          card: { $ref: '#/definitions/card' },
          own: { $ref: 'https://a.example/tool#/definitions/card' },
        },
        {
          definitions: {
            card: object(
              { number: { type: 'string' }, cvc: { type: 'string' } },
              { dependencies: { number: ['cvc'] } },
            ),
          },
        },
      ),
    };
    expect(adapted(schema).changes).to.deep.equal([]);
    expect(takes(schema, { pair: ['a', 1] })).to.equal(true);
    expect(takes(schema, { pair: ['a', 'b'] })).to.equal(false);
    expect(takes(schema, { pair: ['a', 1, 2] })).to.equal(false);
    expect(takes(schema, { card: { number: '1', cvc: '2' } })).to.equal(true);
    expect(takes(schema, { card: { number: '1' } })).to.equal(false);
    expect(takes(schema, { own: { number: '1' } })).to.equal(false);
  });

  it('in the dialect that it names: draft 4, 2019-09 and 2020-12', () => {
    const draft4 = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'x',
      ...object({ n: { type: 'number', minimum: 3, exclusiveMinimum: true } }),
    };
    expect(takes(draft4, { n: 3 })).to.equal(false);
    expect(takes(draft4, { n: 4 })).to.equal(true);
    const tree = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      ...object({ value: { type: 'integer' }, next: { $recursiveRef: '#' } }),
    };
    expect(takes(tree, { value: 1, next: { value: 2 } })).to.equal(true);
    expect(takes(tree, { value: 1, next: { value: 'two' } })).to.equal(false);
    const dynamic = {
      ...object({ value: { $dynamicRef: '#value' } }),
      $defs: { value: { $dynamicAnchor: 'value', type: 'integer' } },
    };
    expect(takes(dynamic, { value: 'one' })).to.equal(false);
    const tuple = object({ pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false } });
    expect(takes(tuple, { pair: ['a'] })).to.equal(true);
    expect(takes(tuple, { pair: ['a', 'b'] })).to.equal(false);
  });

  it('when its expansion is too large: names, types and descriptions remain', () => {
    const $defs: Record<string, object> = { d0: { type: 'string' } };
    for (let level = 1; level < 30; level++)
      $defs[`d${level}`] = { allOf: Array(2).fill({ $ref: `#/$defs/d${level - 1}` }) };
    const input = adapted({
      ...object({ a: { type: 'string', description: 'A.' }, bomb: { $ref: '#/$defs/d29' } }),
      $defs,
    });
    expect(properties(input.schema)['a']).to.deep.equal({ type: 'string', description: 'A.' });
    expect(properties(input.schema)).to.have.property('bomb');
    expect(input.changes).to.include('inputSchema was simplified: it is recursive or too large');
  });

  it('but not a part that does not describe an object', () => {
    for (const schema of [
      null,
      'object',
      [],
      { type: 'string' },
      { type: ['array', 'null'] },
      { $ref: '#/$defs/a', $defs: { a: { type: 'array' } } },
    ]) {
      expect(adaptInput(schema), JSON.stringify(schema)).to.equal(undefined);
    }
    expect(adapted({}).schema).to.deep.equal({ type: 'object' });
  });

  it('and reports at most twenty changes', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x-${at}`, 1]));
    expect(adapted({ type: 'object', ...many }).changes).to.have.length(21);
    expect(adapted({ type: 'object', ...many }).changes.at(-1)).to.equal('and 30 more');
  });
});

describe('X7: the top level of an input schema is a plain object', () => {
  it('with the members of a reference and of allOf', () => {
    const { schema } = adapted({
      allOf: [{ $ref: '#/$defs/base' }, object({ b: { type: 'integer' } }, { required: ['b'] })],
      $defs: { base: object({ a: { type: 'string' } }, { required: ['a'], additionalProperties: false }) },
    });
    expect(Object.keys(properties(schema))).to.have.members(['a', 'b']);
    expect(schema['required']).to.have.members(['a', 'b']);
    const { schema: referred } = adapted({
      $ref: '#/$defs/base',
      $defs: { base: object({ a: { type: 'string' } }, { required: ['a'] }) },
    });
    expect(referred['required']).to.deep.equal(['a']);
  });

  it('with the members of all alternatives; members that every alternative requires stay required', () => {
    const branch = (kind: string, other: string) =>
      object({ kind: { const: kind }, [other]: { type: 'string' } }, { required: ['kind', other] });
    for (const word of ['oneOf', 'anyOf']) {
      const { schema, changes } = adapted({
        ...object({ id: { type: 'string' } }, { required: ['id'] }),
        [word]: [branch('file', 'path'), branch('page', 'url')],
      });
      expect(properties(schema)).to.deep.equal({
        id: { type: 'string' },
        kind: { anyOf: [{ const: 'file' }, { const: 'page' }] },
        path: { type: 'string' },
        url: { type: 'string' },
      });
      expect(schema['required']).to.have.members(['id', 'kind']);
      expect(changes).to.deep.equal([`inputSchema.${word} was merged into properties`]);
    }
  });

  it('for alternatives that only state required members', () => {
    const { schema } = adapted({ ...object({ a: {}, b: {} }), oneOf: [{ required: ['a'] }, { required: ['b'] }] });
    expect(Object.keys(properties(schema))).to.deep.equal(['a', 'b']);
    expect(schema).to.not.have.property('required');
  });

  it('with the members of conditions, which are never required', () => {
    const { schema } = adapted({
      ...object({ a: { type: 'string' } }),
      if: { properties: { a: { const: 'x' } } },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: object({ b: { type: 'integer' } }, { required: ['b'] }),
      dependentSchemas: { a: object({ c: {} }) },
    });
    expect(Object.keys(properties(schema))).to.have.members(['a', 'b', 'c']);
    expect(schema).to.not.have.property('required');
  });

  it('for a recursive schema', () => {
    expect(adapted({ ...object({ a: {} }), anyOf: [{ $ref: '#' }, object({ b: {} })] }).schema).to.have.nested.property(
      'properties.b',
    );
  });
});

describe('X7: properties with names that model APIs reject', () => {
  const schema = {
    ...object(
      {
        $filter: { type: 'string' },
        'a b': { type: 'string' },
        $ref: { type: 'string' },
        filter: { type: 'integer' },
        nested: object({ 'x/y': { $ref: '#/$defs/row' } }),
        rows: { type: 'array', items: { $ref: '#/$defs/row' } },
        free: { type: 'object', additionalProperties: { type: 'string' } },
        ['long'.repeat(30)]: { type: 'string' },
        žluť: { type: 'string' },
      },
      { required: ['$filter', 'filter'], dependentRequired: { 'a b': ['$ref'] } },
    ),
    $defs: { row: object({ 'the cell': {}, next: { $ref: '#/$defs/row' } }, { required: ['the cell'] }) },
  };

  it('are renamed at every level, and sent to the server under their original names', () => {
    const { schema: ours, names, changes } = adapted(schema);
    const own = (theirs: string) => Object.entries(names).find(([, name]) => name === theirs)?.[0] as string;
    expect(properties(ours)['filter'], 'a name that was free to be used stays').to.deep.equal({ type: 'integer' });
    const input = {
      [own('$filter')]: 'x',
      [own('a b')]: 'y',
      [own('$ref')]: 'z',
      filter: 1,
      nested: { [own('x/y')]: { [own('the cell')]: 1, next: { [own('the cell')]: 2 } } },
      rows: [{ [own('the cell')]: 3 }],
      // A member that the schema does not describe keeps its name.
      free: { [own('the cell')]: 'kept', [own('$filter')]: 'kept' },
      [own('long'.repeat(30))]: 'l',
      [own('žluť')]: 'm',
    };
    expect(ajv.validate(ours, input)).to.equal(true);
    expect(toWireInput(input, ours, names)).to.deep.equal({
      $filter: 'x',
      'a b': 'y',
      $ref: 'z',
      filter: 1,
      nested: { 'x/y': { 'the cell': 1, next: { 'the cell': 2 } } },
      rows: [{ 'the cell': 3 }],
      free: { [own('the cell')]: 'kept', [own('$filter')]: 'kept' },
      ['long'.repeat(30)]: 'l',
      žluť: 'm',
    });
    expect(changes).to.include(`inputSchema.$filter was renamed to ${own('$filter')}`);
    expect(ours['required']).to.have.members([own('$filter'), 'filter']);
    expect(ours['dependentRequired']).to.deep.equal({ [own('a b')]: [own('$ref')] });
  });

  it('never share a name', () => {
    const clashing = [
      'a b',
      'a/b',
      'a:b',
      '$a_b',
      'a_b',
      '$x',
      'x',
      'x__x',
      'x__x_5',
      'x__x_0',
      'x__x_1',
      'x__x_2',
      'x__x_3',
      'x__x_4',
    ];
    const { names, schema: ours } = adapted(object(Object.fromEntries(clashing.map((name) => [name, {}]))));
    expect(Object.keys(properties(ours))).to.have.length(clashing.length);
    expect(Object.values(names)).to.have.members(['a b', 'a/b', 'a:b', '$a_b', '$x']);
  });

  it('do not include __proto__', () => {
    const input = adapted(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'));
    expect(Object.values(input.names)).to.deep.equal(['__proto__']);
    const [own] = Object.keys(input.names);
    expect(Object.keys(toWireInput({ [own as string]: 'x' }, input.schema, input.names))).to.deep.equal(['__proto__']);
  });
});

describe('parameters that a server requires in headers (x-mcp-header)', () => {
  it('are sent unchanged, or in base64', () => {
    const read = readHeaderParameters(
      object({
        region: { type: 'string', 'x-mcp-header': 'Region' },
        page: object({
          size: { type: 'integer', 'x-mcp-header': 'Page-Size' },
          all: { type: 'boolean', 'x-mcp-header': 'All' },
        }),
        other: { type: 'string' },
      }),
    );
    const headers = read.ok ? read.headers : [];
    expect(headersOf(headers, { region: 'eu', page: { size: 5, all: false }, other: 'x' })).to.deep.equal({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Page-Size': '5',
      'Mcp-Param-All': 'false',
    });
    expect(headersOf(headers, { region: 'žluť\r\n', page: null })).to.deep.equal({
      'Mcp-Param-Region': `=?base64?${Buffer.from('žluť\r\n').toString('base64')}?=`,
    });
  });

  it('make a tool unusable if they are declared incorrectly', () => {
    for (const schema of [
      { type: 'object', 'x-mcp-header': 'A' },
      object({ a: { type: 'string', 'x-mcp-header': 'A B' } }),
      object({ a: { type: 'string', 'x-mcp-header': '' } }),
      object({ a: { type: 'number', 'x-mcp-header': 'A' } }),
      object({ a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } }),
      object({ a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } }),
      { ...object({}), anyOf: [object({ a: { type: 'string', 'x-mcp-header': 'A' } })] },
    ]) {
      expect(readHeaderParameters(schema).ok, JSON.stringify(schema)).to.equal(false);
    }
  });
});

describe('the output schema of an MCP tool', () => {
  it('is kept if it can be used alone, and is expanded otherwise', () => {
    const plain = object({ a: { type: 'string' } }, { required: ['a'] });
    expect(adaptOutput(plain)).to.deep.equal({ schema: plain, changes: [] });
    const referring = { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: object({ b: { type: 'integer' } }) } };
    const { schema, changes } = adaptOutput(referring);
    expect(JSON.stringify(schema)).to.not.contain('$ref');
    expect(schema).to.have.nested.property('properties.a.properties.b');
    expect(changes).to.have.length(1);
  });

  it('is removed with a reason if it cannot be used', () => {
    for (const given of [null, 'x', { type: 'array' }]) {
      const { schema, changes } = adaptOutput(given);
      expect(schema).to.equal(undefined);
      expect(changes[0]).to.match(/^outputSchema was omitted/);
    }
  });
});

describe('schemas of any shape', () => {
  /** A generator of numbers below 1, the same for each seed. */
  function randomOf(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
      return state / 2 ** 32;
    };
  }
  const WORDS = [
    'properties',
    'items',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    '$ref',
    '$defs',
    'definitions',
    'type',
    'enum',
    'required',
    'pattern',
    'format',
    'const',
    'default',
    'additionalProperties',
    'patternProperties',
    'dependencies',
    'minLength',
    'if',
    'then',
    'prefixItems',
    'contains',
    '$anchor',
    'x-y',
    '__proto__',
    '$filter',
    'a b',
  ];
  const VALUES = [
    null,
    true,
    false,
    0,
    -1,
    'object',
    'array',
    'string',
    '#',
    '#/$defs/a',
    '#/properties',
    'http://x',
    '^(a+)+$',
    '(',
    [],
    {},
  ];

  function anything(random: () => number, depth: number): unknown {
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    if (depth === 0 || random() < 0.3) return pick(VALUES);
    if (random() < 0.2) return Array.from({ length: 2 }, () => anything(random, depth - 1));
    const members = Array.from({ length: 3 }, () => [pick(WORDS), anything(random, depth - 1)]);
    return Object.fromEntries(members);
  }

  it('are adapted so that they compile and are valid, or are rejected', () => {
    let usable = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const given = anything(randomOf(seed), 5);
      const schema = isRecord(given) ? { ...given, type: 'object' } : given;
      if (adaptInput(schema) === undefined) continue;
      adapted(schema);
      adaptOutput(schema);
      readHeaderParameters(schema);
      usable += 1;
    }
    expect(usable).to.be.above(100);
  });
});
