import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { JobLimitError } from '../../../core/threads/job.ts';
import { createThreadPool, type ThreadPool } from '../../../core/threads/pool.ts';
import { createOwnInputChecker, type OwnInputChecker } from '../../../core/tools/own-input.ts';
import type { JsonSchema } from '../../../core/tools/tool.ts';
import { toolOf } from './samples.ts';

const MIB = 1024 * 1024;
const LIMITS = {
  threads: 1,
  heapBytes: 64 * MIB,
  idleMs: 60_000,
  places: 9,
  waiting: 9,
  tenantBytes: 9 * MIB,
  bytes: 9 * MIB,
};

/** The work doubles with each level of the value, because `a` applies the whole schema to a member twice. */
const EXPONENTIAL: JsonSchema = {
  type: 'object',
  allOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' } } }],
};

function nested(levels: number): object {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

describe('H5: the input of a tool of an environment', () => {
  let pool: ThreadPool;
  let checker: OwnInputChecker;

  before(() => {
    pool = createThreadPool(LIMITS);
    checker = createOwnInputChecker(pool);
  });
  after(() => pool.close());

  const check = (schema: JsonSchema, input: unknown, by = checker) =>
    by.check('env', toolOf({ input_schema: schema }), input);
  const refusalOf = async (checked: Promise<unknown>): Promise<ApiError> => {
    const error = await checked.then(
      () => expect.fail('the input was accepted'),
      (thrown) => thrown,
    );
    expect(error).to.be.instanceOf(ApiError);
    return error;
  };

  it('is refused when its validation takes too long', async () => {
    const error = await refusalOf(check(EXPONENTIAL, nested(31)));
    expect(error).to.include({ code: 'INVALID_TOOL_INPUT' });
    expect(error.message).to.equal(
      'tool_input takes too much time to validate against the input_schema of the tool: send a smaller input',
    );
    expect((await check(EXPONENTIAL, nested(3))).input, 'the next one runs in a new thread').to.deep.equal(nested(3));
  });

  it('is validated in a thread if it is large, with the same errors and defaults', async () => {
    const item = { type: 'object', properties: { n: { type: 'integer' }, m: { default: 1 } } };
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { list: { type: 'array', items: item }, tree: { $ref: '#' } },
    };
    const { input } = await check(schema, { list: [{ n: 1 }], tree: {} });
    expect(input).to.deep.equal({ list: [{ n: 1, m: 1 }], tree: {} });
    const error = await refusalOf(check(schema, { list: [{ n: 'x' }], extra: 1 }));
    expect(error.errors).to.deep.include({ field: 'tool_input.list[0].n', message: 'must be integer' });
    expect(error.errors).to.deep.include({ field: 'tool_input.extra', message: 'unknown field' });
  });

  it('does not grow without bound by the defaults of its schema', async () => {
    const items = { type: 'object', properties: { text: { type: 'string', default: 'x'.repeat(10_000) } } };
    const schema = { type: 'object', properties: { list: { type: 'array', items } } };
    const error = await refusalOf(check(schema, { list: Array.from({ length: 5000 }, () => ({})) }));
    expect(error.message).to.match(/must have at most 1048576 bytes including the defaults of its schema/);
  });

  it('has only one error if it is large: a list of all errors would be longer than the input', async () => {
    const schema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } };
    expect((await refusalOf(check(schema, { list: [1, 2] }))).errors).to.have.length(2);
    expect((await refusalOf(check(schema, { list: Array(20_000).fill(1) }))).errors).to.have.length(1);
  });

  it('needs no thread if it is small', async () => {
    const none = createOwnInputChecker({
      run: () => expect.fail('a thread was used'),
      close: async () => {},
    });
    const schema = { type: 'object', properties: { n: { type: 'integer', default: 3 } } };
    expect((await check(schema, {}, none)).input).to.deep.equal({ n: 3 });
    expect((await refusalOf(check(schema, { n: 'x' }, none))).errors?.[0]?.field).to.equal('tool_input.n');
  });

  it('waits for a thread, or is refused with the error of the pool', async () => {
    const busy = createOwnInputChecker({
      run: async () => Promise.reject(new ApiError('RATE_LIMITED', 'later')),
      close: async () => {},
    });
    expect(await refusalOf(check(EXPONENTIAL, {}, busy))).to.include({ code: 'RATE_LIMITED' });
    const greedy = createOwnInputChecker({
      run: async () => Promise.reject(new JobLimitError('memory')),
      close: async () => {},
    });
    expect((await refusalOf(check(EXPONENTIAL, {}, greedy))).message).to.match(/takes too much memory/);
  });

  it('is not validated against a schema that exceeds the bounds', async () => {
    const defs: Record<string, unknown> = { d30: {} };
    for (let level = 0; level < 30; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      defs[`d${level}`] = { allOf: [next, next] };
    }
    const error = await refusalOf(check({ type: 'object', $defs: defs, $ref: '#/$defs/d0' }, {}));
    expect(error.message).to.match(/cannot be validated: the input_schema of the tool expands to more than 20000/);
  });
});
