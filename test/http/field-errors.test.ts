import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { presentErrors } from '../../http/validation/field-errors.ts';

/** Returns the errors of a body as the contract backend reports them: below `requestBody`. */
function errorsOf(schema: object, body: unknown) {
  const validate = new Ajv2020({ allErrors: true, verbose: true, discriminator: true, strict: false }).compile({
    type: 'object',
    properties: { requestBody: schema },
  });
  expect(validate({ requestBody: body })).to.equal(false);
  return presentErrors(validate.errors as ErrorObject[]);
}

const closed = (properties: object, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

describe('presentErrors', () => {
  for (const [what, schema, body, expected] of [
    ['a missing field', closed({ a: {} }, ['a']), {}, [{ field: 'a', message: 'is required' }]],
    ['an unknown field', closed({}), { a: 1 }, [{ field: 'a', message: 'unknown field' }]],
    [
      'an unknown field, and those that are allowed',
      closed({ name: {}, scopes: {} }),
      { colour: 1 },
      [{ field: 'colour', message: 'unknown field (allowed: name, scopes)' }],
    ],
    [
      'a field of a field of a list',
      closed({ a: { type: 'array', items: closed({ b: { type: 'string' } }) } }),
      { a: [{ b: 'x' }, { b: 1 }] },
      [{ field: 'a[1].b', message: 'must be string' }],
    ],
    [
      'the types of a value',
      { type: ['integer', 'null'] },
      'x',
      [{ field: 'body', message: 'must be integer or null' }],
    ],
    ['a value of a list of values', { enum: ['A', 'B'] }, 'C', [{ field: 'body', message: 'must be one of A, B' }]],
    [
      'a text of another form, in words where the contract has that form',
      closed({ a: { pattern: '^https?://\\S+$' }, b: { pattern: '^x$' } }),
      { a: 'ftp://acme.example', b: 'y' },
      [
        { field: 'a', message: 'must be a URL that starts with https:// or http:// and has no spaces' },
        { field: 'b', message: 'must match pattern "^x$"' },
      ],
    ],
    ['the body itself', { type: 'object' }, [], [{ field: 'body', message: 'must be object' }]],
    [
      'a name that is not allowed',
      { type: 'object', propertyNames: { minLength: 3 } },
      { ab: 1 },
      [
        { field: 'body', message: 'must NOT have fewer than 3 characters' },
        { field: 'ab', message: 'has a name that is not allowed' },
      ],
    ],
    [
      'names with the characters of a pointer',
      closed({ 'a/b~c': { type: 'string' } }),
      { 'a/b~c': 1 },
      [{ field: 'a/b~c', message: 'must be string' }],
    ],
  ] as [string, object, unknown, { field: string; message: string }[]][]) {
    it(`names ${what}`, () => expect(errorsOf(schema, body)).to.deep.equal(expected));
  }

  describe('in a union', () => {
    const details = {
      oneOf: [
        closed({ token: closed({ value: { type: 'string' } }, ['value']) }, ['token']),
        closed({ key: { type: 'object' } }, ['key']),
      ],
    };
    const schema = closed({ details });

    it('reports only errors inside the intended branch', () => {
      expect(errorsOf(schema, { details: { token: { value: 1 } } })).to.deep.equal([
        { field: 'details.token.value', message: 'must be string' },
      ]);
      expect(errorsOf(schema, { details: { key: 'x' } })).to.deep.equal([
        { field: 'details.key', message: 'must be object' },
      ]);
    });

    it('lists the choices when no branch was intended', () => {
      expect(errorsOf(schema, { details: {} })).to.deep.equal([
        { field: 'details', message: 'must have exactly one of token, key' },
      ]);
    });

    it('names the keys that exclude each other', () => {
      const three = closed({ details: { oneOf: [...details.oneOf, closed({ user: {} }, ['user']), closed({})] } });
      expect(errorsOf(three, { details: { token: { value: 'x' }, key: {} } })).to.deep.equal([
        { field: 'details', message: 'must have only one of key, token' },
      ]);
    });

    it('names an unknown key beside the intended one', () => {
      const withNothing = closed({ details: { oneOf: [...details.oneOf, closed({})] } });
      expect(errorsOf(withNothing, { details: { key: {}, kee: {} } })).to.deep.equal([
        { field: 'details.kee', message: 'unknown field (allowed: token, key)' },
      ]);
    });

    it('names an unknown key if it is the only one', () => {
      const withNothing = closed({ details: { oneOf: [...details.oneOf, { type: 'object', maxProperties: 0 }] } });
      expect(errorsOf(withNothing, { details: { kee: {} } })).to.deep.equal([
        { field: 'details.kee', message: 'unknown field (allowed: token, key)' },
      ]);
      expect(errorsOf(withNothing, { details: { kee: {}, tokn: {} } })).to.deep.equal([
        { field: 'details.kee', message: 'unknown field (allowed: token, key)' },
        { field: 'details.tokn', message: 'unknown field (allowed: token, key)' },
      ]);
    });

    it('names the types of its forms for a value of another type', () => {
      const withNothing = closed({ details: { oneOf: [...details.oneOf, { type: 'object', maxProperties: 0 }] } });
      for (const value of [null, [], ['x'], 'x', 5, true]) {
        const errors = errorsOf(withNothing, { details: value });
        expect(errors, JSON.stringify(value)).to.deep.equal([{ field: 'details', message: 'must be object' }]);
      }
      const orText = closed({ details: { oneOf: [...details.oneOf, { type: 'string' }] } });
      expect(errorsOf(orText, { details: 5 })).to.deep.equal([
        { field: 'details', message: 'must be object or string' },
      ]);
    });

    it('names the tag if a tag selects the branch', () => {
      const tagged = {
        type: 'object',
        discriminator: { propertyName: 'type' },
        required: ['type'],
        oneOf: [{ properties: { type: { const: 'A' } } }, { properties: { type: { const: 'B' } } }],
      };
      expect(errorsOf(tagged, { type: 'C' })).to.deep.equal([{ field: 'type', message: 'must be one of A, B' }]);
      expect(errorsOf(tagged, {})[0]).to.deep.equal({ field: 'type', message: 'is required' });
    });
  });

  it('reports each error once, and stops after twenty', () => {
    const both = {
      allOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['a'] },
      ],
    };
    expect(errorsOf(both, {})).to.have.length(1);
    const names = Array.from({ length: 30 }, (_, index) => `f${index}`);
    expect(errorsOf(closed({}, names), {})).to.have.length(20);
  });
});
