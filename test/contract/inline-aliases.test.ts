import { expect } from 'chai';
import { inlineAliases } from '../../scripts/inline-aliases.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { objectAt } from '../../scripts/openapi-document.ts';
import { contract } from './contract.ts';

const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function schemasAfter(schemas: JsonObject): JsonObject {
  return objectAt(objectAt(inlineAliases({ components: { schemas } }), 'components'), 'schemas');
}

function thing(...references: JsonObject[]): JsonObject {
  return { type: 'object', properties: Object.fromEntries(references.map((reference, n) => [`p${n}`, reference])) };
}

describe('inlining of aliases', () => {
  it('replaces scalars and lists, also through other aliases, and removes their components', () => {
    const schemas = {
      Thing: thing(to('Ids'), to('Id')),
      Ids: { type: 'array', items: to('Id') },
      Id: { type: ['string', 'null'] },
    };
    const id = { type: ['string', 'null'] };
    expect(schemasAfter(schemas)).to.deep.equal({ Thing: thing({ type: 'array', items: id }, id) });
  });

  it('prefers a description beside the reference', () => {
    const schemas = {
      Thing: thing({ ...to('Id'), description: 'mine' }),
      Id: { type: 'string', description: 'general' },
    };
    expect(schemasAfter(schemas)).to.deep.equal({ Thing: thing({ type: 'string', description: 'mine' }) });
  });

  it('keeps objects, unions, schemas without a type, and enums that are used more than once', () => {
    const schemas = {
      Thing: thing(to('Other'), to('Union'), to('Any'), to('Twice'), to('Twice'), to('Once')),
      Other: { type: 'object' },
      Union: { oneOf: [to('Other'), { type: 'null' }] },
      Any: {},
      Twice: { type: 'string', enum: ['a'] },
      Once: { type: 'string', enum: ['b'] },
    };
    const { Once, ...kept } = schemas;
    expect(schemasAfter(schemas)).to.deep.equal({
      ...kept,
      Thing: thing(to('Other'), to('Union'), to('Any'), to('Twice'), to('Twice'), Once),
    });
  });

  it('leaves nothing to inline in the contract', () => {
    expect(inlineAliases(contract)).to.equal(contract);
  });
});
