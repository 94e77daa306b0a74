import { expect } from 'chai';
import { SCHEMA } from '../../../core/budgets.ts';
import { isSmallWork, measureSchema, SchemaBoundsError } from '../../../core/tools/schema-bounds.ts';
import { schemaCompiler } from '../../../core/tools/schema-compiler.ts';

type Schema = Record<string, unknown>;

/** Definitions, each of which applies the next one twice, in a way that the test chooses. */
function doubling(levels: number, twice: (next: { $ref: string }) => Schema): Schema {
  const defs: Record<string, Schema> = { [`d${levels}`]: { type: 'string' } };
  for (let level = 0; level < levels; level++) defs[`d${level}`] = twice({ $ref: `#/$defs/d${level + 1}` });
  return { type: 'object', $defs: defs, properties: { a: { $ref: '#/$defs/d0' } } };
}

function refusal(schema: Schema): SchemaBoundsError {
  try {
    measureSchema(schema);
  } catch (error) {
    expect(error).to.be.instanceOf(SchemaBoundsError);
    return error as SchemaBoundsError;
  }
  return expect.fail('the schema was accepted');
}

const WAYS: Record<string, (next: { $ref: string }) => Schema> = {
  allOf: (next) => ({ allOf: [next, next] }),
  anyOf: (next) => ({ anyOf: [next, next] }),
  oneOf: (next) => ({ oneOf: [next, next] }),
  'not beside $ref': (next) => ({ ...next, not: next }),
  'if and else': (next) => ({ if: next, else: next }),
  dependentSchemas: (next) => ({ dependentSchemas: { a: next, b: next } }),
  dependencies: (next) => ({ dependencies: { a: next, b: next } }),
  properties: (next) => ({ properties: { a: next, b: next } }),
  patternProperties: (next) => ({ patternProperties: { a: next, b: next } }),
  'additionalProperties and propertyNames': (next) => ({ additionalProperties: next, propertyNames: next }),
  'items and contains': (next) => ({ items: next, contains: next }),
  prefixItems: (next) => ({ prefixItems: [next, next] }),
  'unevaluatedProperties and unevaluatedItems': (next) => ({ unevaluatedProperties: next, unevaluatedItems: next }),
};

describe('H5, E12: the bounds of a schema', () => {
  for (const [keyword, twice] of Object.entries(WAYS)) {
    it(`refuse references that multiply by ${keyword}`, () => {
      expect(measureSchema(doubling(8, twice)).expanded).to.be.above(256);
      const { pointer, message } = refusal(doubling(30, twice));
      expect(message).to.match(/^expands to more than 20000/);
      // The first definition, counted from the end, that is too large.
      expect(pointer).to.match(/^\/\$defs\/d1\d/);
    });
  }

  it('accept a large schema that refers to each definition once', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`d${index}`, { type: 'object', properties: { a: {}, b: {} } }]),
    );
    const properties = Object.fromEntries(Object.keys(defs).map((name) => [name, { $ref: `#/$defs/${name}` }]));
    expect(measureSchema({ type: 'object', $defs: defs, properties }).expanded).to.be.within(1000, 2000);
  });

  it('count values of enums, constants and defaults', () => {
    const values = Array.from({ length: 300 }, (_, index) => `value ${index}`);
    for (const keyword of ['enum', 'required']) {
      const item = { type: 'object', [keyword]: values };
      const properties = Object.fromEntries(values.map((name) => [name, { ...item }]));
      expect(refusal({ type: 'object', properties }).pointer, keyword).to.equal('');
    }
    expect(refusal({ properties: { a: { default: 'x'.repeat(700_000) } } }).pointer).to.equal('/properties/a');
    expect(refusal({ properties: { a: { const: { b: 'x'.repeat(700_000) } } } }).pointer).to.equal('/properties/a');
  });

  it('reject keywords that change the meaning of validation, with any value, and accept members of these names', () => {
    for (const keyword of ['$async', '$id', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']) {
      for (const value of [true, 1, 'yes', ['yes'], null]) {
        const { pointer, message } = refusal({ properties: { a: { items: { [keyword]: value } } } });
        expect([pointer, message]).to.deep.equal(['/properties/a/items', `must not use ${keyword}`]);
      }
      expect(measureSchema({ properties: { [keyword]: { type: 'string' } } }).expanded, 'the control').to.equal(2);
    }
  });

  it('reject a schema that refers to itself for the same value, and accept one that does so for members', () => {
    for (const schema of [
      { $ref: '#' },
      { allOf: [{ anyOf: [{ $ref: '#' }] }] },
      { $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { if: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
      { properties: { a: { $anchor: 'x', else: { $ref: '#x' } } } },
    ]) {
      expect(refusal(schema).message).to.equal(
        'must not contain a reference that leads back to itself without a property or item in between',
      );
    }
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(measureSchema(tree)).to.deep.equal({ expanded: 4, recursive: true, hasPatterns: false });
  });

  it('refuse chains that exceed the stack of the compiler', () => {
    const defs: Record<string, Schema> = { [`d${SCHEMA.chain + 1}`]: {} };
    for (let at = 0; at <= SCHEMA.chain; at++) defs[`d${at}`] = { items: { $ref: `#/$defs/d${at + 1}` } };
    const { message } = refusal({ $defs: defs, $ref: '#/$defs/d0' });
    expect(message).to.match(/at most 500 levels of nested and referenced schemas/);
    const inPlace = Object.fromEntries(
      Object.entries(defs).map(([name, schema]) => [name, 'items' in schema ? { allOf: [schema['items']] } : schema]),
    );
    expect(refusal({ $defs: inPlace, $ref: '#/$defs/d0' }).message).to.match(/at most 500/);
  });

  it('refuse references that cannot be counted or that point outside the schema', () => {
    const expected: [Schema, string, RegExp][] = [
      [{ $dynamicRef: '#a' }, '', /must not use \$dynamicRef/],
      [{ properties: { a: { $dynamicAnchor: 'a' } } }, '/properties/a', /must not use/],
      [{ $ref: 'https://evil.example/schema' }, '', /another document/],
      [{ items: { $id: 'x' } }, '/items', /must not use \$id/],
      [{ items: { $ref: '#/$defs/none' } }, '/items', /which does not exist/],
      [{ items: { $ref: '#none' } }, '/items', /which does not exist/],
      [{ items: { $ref: '#/constructor/name' } }, '/items', /which does not exist/],
    ];
    for (const [schema, pointer, message] of expected) {
      const error = refusal(schema);
      expect([error.pointer, message.test(error.message)], error.message).to.deep.equal([pointer, true]);
    }
    const wide = Object.fromEntries(Array.from({ length: SCHEMA.nodes }, (_, index) => [`p${index}`, {}]));
    expect(refusal({ properties: wide }).message).to.match(/at most 20000 objects and arrays/);
    let deep: Schema = {};
    for (let level = 0; level <= SCHEMA.levels; level++) deep = { items: deep };
    expect(refusal(deep).message).to.match(/nested at most 64 levels/);
  });

  it('distinguish small work from work for a thread', () => {
    const schema = { type: 'array', items: { enum: Array.from({ length: 100 }, (_, index) => index) } };
    expect(isSmallWork(schema, [1, 2, 3])).to.equal(true);
    expect(isSmallWork(schema, Array(10_000).fill(7))).to.equal(false);
    const large = { properties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, {}])) };
    expect(isSmallWork(large, {}), 'compiling it takes long').to.equal(false);
    expect(isSmallWork({ items: { $ref: '#' } }, []), 'the value decides').to.equal(false);
  });
});

describe('H5: keywords whose time the library does not bound', () => {
  const compile = (schema: Schema) => schemaCompiler().compile(schema);

  it('uniqueItems finds equal items of any type without comparing all pairs', () => {
    const validate = compile({ type: 'array', uniqueItems: true });
    const items = Array.from({ length: 20_000 }, (_, index) => ({ id: index, tags: ['a', { b: index }] }));
    expect(validate(items)).to.equal(true);
    for (const [equal, list] of [
      [
        true,
        [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
      ],
      [true, [1, 2, 1.0]],
      [false, [1, '1', true, 'true', null, 'null', [1], { 0: 1 }, {}, []]],
      [false, [{ a: 1 }, { a: '1' }]],
    ] as const) {
      expect(validate([...list]), JSON.stringify(list)).to.equal(!equal);
    }
    expect(compile({ type: 'array', uniqueItems: false })([1, 1])).to.equal(true);
  });

  it('the format url accepts addresses, and takes linear time for long texts', () => {
    const validate = compile({ type: 'string', format: 'url' });
    for (const text of ['https://example.com/a?b=c', 'http://localhost:8080', 'ftp://example.com']) {
      expect(validate(text), text).to.equal(true);
    }
    // The regular expression of the library takes minutes for these texts.
    for (const text of [`ftp://:${':'.repeat(200_000)}`, 'javascript:alert(1)', 'https://', 'x']) {
      expect(validate(text)).to.equal(false);
    }
  });
});
