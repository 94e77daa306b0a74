import { expect } from 'chai';
import { readContract } from '../../http/validation/served-contract.ts';
import { generatedValidators } from '../../http/validation/validators.ts';
import { createAjv } from '../../scripts/contract-ajv.ts';
import { operationsOf } from '../../scripts/openapi-document.ts';
import { readBundle, servedContract } from '../support/served-contract.ts';

const OPERATIONS = operationsOf(readBundle());

/** A contract with one operation, whose body has the given properties. */
function withBody(properties: Record<string, object>) {
  const body = { type: 'object', additionalProperties: false, properties: { name: { type: 'string' }, ...properties } };
  const post = {
    operationId: 'putThing',
    parameters: [{ name: 'size', in: 'query', schema: { type: 'integer', maximum: 9, default: 3 } }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
    },
    responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
  };
  const document = {
    openapi: '3.1.1',
    info: {},
    paths: { '/things': { post } },
    components: { schemas: { Thing: body } },
  };
  const { routes, validators } = servedContract(document as never);
  const errorsOf = (module: 'bodies' | 'bodies-errors' | 'parameters', subject: object) => {
    const validate = validators(module)['putThing'];
    return validate?.(subject) ? [] : validate?.errors;
  };
  return { routes, validators, errorsOf };
}

describe('the generated validators', () => {
  it('exist for the parameters of every operation, and for every body', () => {
    const without = (names: Record<string, unknown>, wanted: typeof OPERATIONS) =>
      wanted.filter(({ id }) => typeof names[id] !== 'function').map(({ id }) => id);
    expect(OPERATIONS).to.have.length.above(80);
    expect(without(generatedValidators('parameters'), OPERATIONS)).to.deep.equal([]);
    const withBodies = OPERATIONS.filter(({ definition }) => 'requestBody' in definition);
    for (const module of ['bodies', 'bodies-errors'] as const) {
      expect(without(generatedValidators(module), withBodies)).to.deep.equal([]);
    }
  });

  it('exist for every response that the routes declare', () => {
    const text = JSON.stringify(readContract().routes);
    const names = [...text.matchAll(/"validator":"([^"]+)"/g)].map(([, name]) => name as string);
    expect(names).to.include('ConnectedAccountList');
    const known = generatedValidators('responses');
    expect(names.filter((name) => typeof known[name] !== 'function')).to.deep.equal([]);
  });

  it('stop at the first error or report every error, with the schema that names the allowed fields', () => {
    const { errorsOf } = withBody({ age: { type: 'integer' } });
    const subject = () => ({ requestBody: { name: 1, age: 'x', colour: 2 } });
    expect(errorsOf('bodies', subject())).to.have.length(1);
    const all = errorsOf('bodies-errors', subject()) ?? [];
    expect(all.map(({ keyword }) => keyword)).to.have.members(['additionalProperties', 'type', 'type']);
    const unknown = all.find(({ keyword }) => keyword === 'additionalProperties');
    expect(Object.keys(unknown?.parentSchema?.['properties'])).to.deep.equal(['name', 'age']);
  });

  it('convert the strings of parameters and set their defaults', () => {
    const { errorsOf } = withBody({});
    const subject = { path: {}, query: { size: '7' }, header: {}, cookie: {} };
    expect(errorsOf('parameters', subject)).to.deep.equal([]);
    expect(subject.query.size).to.equal(7);
    const none: { query: { size?: number } } = { query: {} };
    errorsOf('parameters', none);
    expect(none.query.size).to.equal(3);
    expect(errorsOf('parameters', { query: { size: '10' } })).to.have.length(1);
  });

  it('reject read-only properties in requests, and write-only ones in responses', () => {
    const { errorsOf, validators } = withBody({
      id: { type: 'string', readOnly: true },
      key: { type: 'string', writeOnly: true },
    });
    expect(errorsOf('bodies', { requestBody: { key: 'k' } })).to.deep.equal([]);
    expect(errorsOf('bodies', { requestBody: { id: 'i' } })?.[0]?.message).to.equal('is read-only');
    const response = validators('responses')['Thing'];
    expect([response?.({ id: 'i' }), response?.({ key: 'k' })]).to.deep.equal([true, false]);
  });

  it('count characters, not UTF-16 code units, near a limit', () => {
    const { errorsOf } = withBody({ mark: { type: 'string', maxLength: 2, minLength: 2 } });
    const check = (mark: string) => errorsOf('bodies', { requestBody: { mark } })?.length;
    expect([check('😀😀'), check('😀'), check('😀😀😀'), check('ab'), check('a'), check('abcde')]).to.deep.equal([
      0, 1, 1, 0, 1, 1,
    ]);
  });

  it('are refused for a schema with an unknown keyword', () => {
    expect(() => withBody({ size: { type: 'string', maximumLength: 3 } })).to.throw('unknown keyword');
    expect(() => createAjv('request', 'first').compile({ type: 'object', propertys: {} })).to.throw('unknown keyword');
  });
});
