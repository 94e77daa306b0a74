import { expect } from 'chai';
import { breakingChanges } from '../../scripts/compatibility.ts';
import type { Json, JsonObject } from '../../scripts/openapi-document.ts';
import { contract } from './contract.ts';

interface Parts {
  request?: Json;
  answer?: Json;
  parameters?: Json[];
  more?: JsonObject;
}

/** A contract with one operation, `put /a`; tests change its parts. */
function small({ request = { type: 'object' }, answer = { type: 'object' }, parameters = [], more = {} }: Parts = {}) {
  const content = (schema: Json): JsonObject => ({ 'application/json': { schema } });
  return {
    paths: {
      '/a': {
        put: {
          operationId: 'a',
          security: [{ oauth2: ['read'] }],
          parameters,
          requestBody: { required: true, content: content(request) },
          responses: { '200': { content: content(answer) }, '404': { description: 'none' } },
          ...more,
        },
      },
    },
  } satisfies JsonObject;
}

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});

function requestBreaks(before: Json, after: Json): string[] {
  return breakingChanges(small({ request: before }), small({ request: after }));
}

function answerBreaks(before: Json, after: Json): string[] {
  return breakingChanges(small({ answer: before }), small({ answer: after }));
}

describe('compatibility of contracts', () => {
  it('finds no break between the contract and itself', () => {
    expect(breakingChanges(contract, contract)).to.deep.equal([]);
  });

  describe('events', () => {
    const withEvent = (data: Json, type = 'a.done') => ({
      ...small(),
      webhooks: { [type]: { post: { requestBody: { content: { 'application/json': { schema: data } } } } } },
    });

    it('break when one is removed or renamed', () => {
      const before = withEvent({ type: 'object' });
      expect(breakingChanges(before, small())).to.deep.equal(['a.done: the event was removed']);
      expect(breakingChanges(before, withEvent({ type: 'object' }, 'a.ended'))).to.deep.equal([
        'a.done: the event was removed',
      ]);
    });

    it('break when a member is removed, but not when one is added', () => {
      const [less, more] = [withEvent(object({}, [])), withEvent(object({ b: { type: 'string' } }, ['b']))];
      expect(breakingChanges(less, more)).to.deep.equal([]);
      expect(breakingChanges(more, less).join()).to.match(/^a\.done.*b/);
    });
  });

  describe('operations', () => {
    it('break when one is removed', () => {
      expect(breakingChanges(small(), { paths: {} })).to.deep.equal(['a: the operation was removed']);
    });

    it('do not break when one is added', () => {
      expect(breakingChanges({ paths: {} }, small())).to.deep.equal([]);
    });

    it('break when the path of one changes', () => {
      const moved = { paths: { '/b': small().paths['/a'] } };
      expect(breakingChanges(small(), moved)).to.deep.equal(['a: moved from put /a to put /b']);
    });

    it('break when one requires another scope', () => {
      const after = small({ more: { security: [{ oauth2: ['write'] }] } });
      expect(breakingChanges(small(), after)).to.deep.equal(['a: demands other scopes']);
    });

    it('break when a status is removed', () => {
      const { '200': ok } = small().paths['/a'].put.responses;
      const after = small({ more: { responses: { '200': ok } } });
      expect(breakingChanges(small(), after)).to.deep.equal(['a: no longer returns 404']);
    });

    it('break when the media type changes', () => {
      const after = small({ more: { requestBody: { required: true, content: { 'text/plain': {} } } } });
      expect(breakingChanges(small(), after)).to.deep.equal(['a: the request body is no longer application/json']);
    });

    it('break when a body becomes required', () => {
      const content = { 'application/json': { schema: { type: 'object' } } };
      const before = small({ more: { requestBody: { required: false, content } } });
      expect(breakingChanges(before, small())).to.deep.equal(['a: the body is required now']);
    });
  });

  describe('parameters', () => {
    const page = (schema: Json, required = false): JsonObject => ({ name: 'page', in: 'query', required, schema });
    const breaks = (before: Json[], after: Json[]) =>
      breakingChanges(small({ parameters: before }), small({ parameters: after }));

    it('break when one is removed', () => {
      expect(breaks([page({})], [])).to.deep.equal(['a: the query parameter page was removed']);
    });

    it('break when a required one is added or an optional one becomes required', () => {
      const finding = ['a: the query parameter page is required now'];
      expect(breaks([], [page({}, true)])).to.deep.equal(finding);
      expect(breaks([page({})], [page({}, true)])).to.deep.equal(finding);
    });

    it('break when one accepts fewer values', () => {
      const before = page({ type: 'integer', maximum: 100 });
      expect(breaks([before], [page({ type: 'integer', maximum: 50 })])).to.deep.equal([
        'a: the query parameter page: maximum shrank',
      ]);
    });

    it('do not break when an optional one is added', () => {
      expect(breaks([], [page({})])).to.deep.equal([]);
    });
  });

  describe('requests', () => {
    const text = { type: 'string' };

    it('break when a required property is added or one becomes required', () => {
      const finding = ['a: the request body: the property x is required now'];
      expect(requestBreaks(object({}), object({ x: text }, ['x']))).to.deep.equal(finding);
      expect(requestBreaks(object({ x: text }), object({ x: text }, ['x']))).to.deep.equal(finding);
    });

    it('break when a property is removed or becomes readOnly', () => {
      expect(requestBreaks(object({ x: text }), object({}))).to.deep.equal([
        'a: the request body: the property x was removed',
      ]);
      expect(requestBreaks(object({ x: text }), object({ x: { ...text, readOnly: true } }))).to.deep.equal([
        'a: the request body: the property x is readOnly now',
      ]);
    });

    it('break when an enum loses a value or appears', () => {
      const before = object({ x: { type: 'string', enum: ['a', 'b'] } });
      expect(requestBreaks(before, object({ x: { type: 'string', enum: ['a'] } }))).to.deep.equal([
        'a: the request body x: the enum no longer has b',
      ]);
      expect(requestBreaks(object({ x: text }), before)).to.deep.equal([
        'a: the request body x: the enum no longer has other values',
      ]);
    });

    it('break when a type of a union is removed', () => {
      const before = object({ x: { type: ['string', 'null'] } });
      expect(requestBreaks(before, object({ x: text }))).to.deep.equal(['a: the request body x: the type changed']);
      expect(requestBreaks(object({ x: { type: 'number' } }), object({ x: { type: 'integer' } }))).to.have.lengthOf(1);
    });

    it('break when a limit tightens or a pattern changes', () => {
      const limits: [JsonObject, JsonObject][] = [
        [{}, { minLength: 1 }],
        [{ minLength: 1 }, { minLength: 2 }],
        [{}, { maxLength: 9 }],
        [{ maxLength: 9 }, { maxLength: 8 }],
        [{}, { pattern: '^a$' }],
        [{ pattern: '^a$' }, { pattern: '^b$' }],
        [{}, { format: 'uri' }],
      ];
      for (const [before, after] of limits) {
        const found = requestBreaks(object({ x: { ...text, ...before } }), object({ x: { ...text, ...after } }));
        expect(found, JSON.stringify(after)).to.have.lengthOf(1);
        const relaxed = requestBreaks(object({ x: { ...text, ...after } }), object({ x: text }));
        expect(relaxed, `without ${JSON.stringify(after)}`).to.deep.equal([]);
      }
    });

    it('break when an object becomes closed', () => {
      expect(requestBreaks(object({}), { ...object({}), additionalProperties: false })).to.deep.equal([
        'a: the request body: further properties are no longer accepted',
      ]);
    });

    it('break when a member of a union is removed, in a list too', () => {
      const list = (...types: string[]) => ({ type: 'array', items: { oneOf: types.map((type) => ({ type })) } });
      expect(requestBreaks(list('string', 'null'), list('string'))).to.deep.equal([
        'a: the request body items: oneOf no longer has its member 1',
      ]);
    });

    it('do not break when they become a union with a member that accepts as much, and break without one', () => {
      const before = object({ x: text }, ['x']);
      const wider = object({ x: text, y: text });
      expect(requestBreaks(before, { oneOf: [{ type: 'null' }, wider] })).to.deep.equal([]);
      expect(requestBreaks(before, { oneOf: [{ type: 'null' }, object({})] })).to.deep.equal([
        'a: the request body: no member of the union accepts what was accepted',
      ]);
    });

    it('do not break when they accept more', () => {
      const before = object({ x: { type: 'string', enum: ['a'] } }, ['x']);
      const after = object({ x: { type: ['string', 'null'], enum: ['a', 'b', null] }, y: text });
      expect(requestBreaks(before, after)).to.deep.equal([]);
      expect(requestBreaks(object({ x: { type: 'integer' } }), object({ x: { type: 'number' } }))).to.deep.equal([]);
    });
  });

  describe('responses', () => {
    const text = { type: 'string' };

    it('break when a property is removed, may be missing, or becomes writeOnly', () => {
      const before = object({ x: text }, ['x']);
      expect(answerBreaks(before, object({}))).to.deep.equal(['a: the body of 200: the property x was removed']);
      expect(answerBreaks(before, object({ x: text }))).to.deep.equal([
        'a: the body of 200: the property x may be missing now',
      ]);
      expect(answerBreaks(before, object({ x: { ...text, writeOnly: true } }, ['x']))).to.deep.equal([
        'a: the body of 200: the property x is writeOnly now',
      ]);
    });

    it('do not break when they become a union whose members hold as much, and break when one holds less', () => {
      const before = object({ x: text }, ['x']);
      const more = object({ x: text, y: text }, ['x', 'y']);
      expect(answerBreaks(before, { oneOf: [before, more] })).to.deep.equal([]);
      expect(answerBreaks(before, { oneOf: [more, object({ x: text })] })).to.deep.equal([
        'a: the body of 200: the property x may be missing now',
      ]);
    });

    it('do not break when a scalar in a union is inlined, and break when another one replaces it', () => {
      const components = { schemas: { Id: text, Other: text } };
      const of = (branch: JsonObject) => ({ oneOf: [branch, { type: 'null' }] });
      const reference = (name: string) => of({ $ref: `#/components/schemas/${name}` });
      const compare = (before: JsonObject, after: JsonObject) =>
        breakingChanges({ ...small({ answer: before }), components }, { ...small({ answer: after }), components });
      expect(compare(reference('Id'), of(text))).to.deep.equal([]);
      expect(compare(of(text), reference('Id'))).to.deep.equal([]);
      expect(compare(reference('Id'), reference('Other'))).to.deep.equal([
        'a: the body of 200: oneOf no longer has Id',
      ]);
    });

    it('break when a type gains a member', () => {
      expect(answerBreaks(object({ x: text }), object({ x: { type: ['string', 'null'] } }))).to.deep.equal([
        'a: the body of 200 x: the type changed',
      ]);
    });

    it('do not break when properties are added', () => {
      const before = object({ x: { type: 'string', enum: ['a'] } });
      const after = object({ x: { type: 'string', enum: ['a', 'b'] }, y: text }, ['x', 'y']);
      expect(answerBreaks(before, after)).to.deep.equal([]);
    });
  });

  it('report a change of a shared schema once, by the name of the schema', () => {
    const withComponent = (schema: Json) => ({
      ...small({ request: { $ref: '#/components/schemas/Thing' } }),
      components: { schemas: { Thing: schema } },
    });
    const before = withComponent({ type: 'string' });
    const twice = (document: JsonObject) => {
      const { '/a': item } = document['paths'] as { '/a': { put: JsonObject } };
      return { ...document, paths: { '/a': item, '/b': { put: { ...item.put, operationId: 'b' } } } };
    };
    const after = withComponent({ type: 'integer' });
    expect(breakingChanges(twice(before), twice(after))).to.deep.equal(['Thing in a request: the type changed']);
  });
});
