import { expect } from 'chai';
import fc from 'fast-check';
import { nameInputs } from '../../../core/openapi-conversion/inputs.ts';
import { nameTools } from '../../../core/openapi-conversion/names.ts';
import { plainText } from '../../../core/openapi-conversion/plain-text.ts';
import { createResolver } from '../../../core/openapi-conversion/resolve.ts';
import { DETAILS, type Detail, SchemaWriter } from '../../../core/openapi-conversion/schema.ts';
import { createSchemaReader } from '../../../core/openapi-conversion/schema-view.ts';
import { schemaCompiler } from '../../../core/tools/schema-compiler.ts';

const place = fc.constantFrom('path', 'query', 'header', 'body') as fc.Arbitrary<'path'>;

describe('For every document', () => {
  it('names are valid, unique, and do not depend on the order of operations', () => {
    const source = fc.record({ operationId: fc.string(), method: fc.constantFrom('GET', 'POST'), path: fc.webPath() });
    fc.assert(
      fc.property(fc.uniqueArray(source, { selector: ({ method, path }) => method + path }), (sources) => {
        const named = sources.map((one) => ({ ...one, sourceId: `${one.method} ${one.path}` }));
        const names = nameTools('acme-crm', named);
        for (const name of names.values()) expect(name).to.match(/^[a-z][a-z0-9_]{0,63}$/);
        expect(new Set(names.values()).size).to.equal(sources.length);
        const reversed = nameTools('acme-crm', named.toReversed());
        for (const [id, name] of names) expect(reversed.get(id)).to.equal(name);
      }),
      { numRuns: 30 },
    );
  });

  it('keys of inputs are valid and unique', () => {
    const draft = fc.record({ place, wire: fc.string({ unit: 'binary', minLength: 1 }) });
    fc.assert(
      fc.property(fc.uniqueArray(draft, { selector: (one) => `${one.place} ${one.wire}` }), (drafts) => {
        const inputs = nameInputs(
          drafts.map((one) => ({ ...one, schema: {}, required: false })),
          ['cursor'],
        );
        for (const { key } of inputs)
          expect(key)
            .to.match(/^[a-zA-Z0-9_.-]{1,64}$/)
            .and.not.to.equal('cursor');
        expect(new Set(inputs.map(({ key }) => key)).size).to.equal(drafts.length);
      }),
    );
  });

  it('text is one line of visible characters, and no longer than its limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 10, max: 300 }), (text, limit) => {
        const plain = plainText(text, limit);
        expect(plain.length).to.be.at.most(limit);
        expect(plain).to.not.match(/[\p{Cc}\p{Cf}]/u);
      }),
    );
  });

  it('schemas compile with any combination of keywords', () => {
    const leaf = {
      type: fc.constantFrom('string', 'integer', 'object', 'array', 'any', ['string', 'null'], 7),
      enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 3 }),
      required: fc.array(fc.string(), { maxLength: 2 }),
      nullable: fc.boolean(),
      minimum: fc.integer(),
      exclusiveMinimum: fc.oneof(fc.boolean(), fc.integer()),
      minLength: fc.integer(),
      format: fc.constantFrom('date', 'int32', 'weird'),
    };
    const reference = fc.constant({ $ref: '#/self' });
    const level = (below: fc.Arbitrary<object>): fc.Arbitrary<object> => {
      const node = fc.oneof(below, reference);
      const members = {
        properties: fc.dictionary(fc.string(), node, { maxKeys: 3 }),
        items: node,
        oneOf: fc.array(node, { maxLength: 2 }),
        allOf: fc.array(node, { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), node),
      };
      return fc.record({ ...leaf, ...members }, { requiredKeys: [] });
    };
    const schemas = level(level(level(fc.record(leaf, { requiredKeys: [] }))));
    fc.assert(
      fc.property(schemas, fc.constantFrom('input' as const, 'output' as const), (schema, direction) => {
        const read = createSchemaReader(createResolver({ self: schema }));
        const written = new SchemaWriter(read, direction, DETAILS[3] as Detail, 5000).write(schema);
        expect(JSON.stringify(written)).not.to.include('$ref');
        schemaCompiler().compile(written);
      }),
      { numRuns: 50 },
    );
  });
});
