import { expect } from 'chai';
import { TOOL_INPUT } from '../../../core/budgets.ts';
import { createInputChecker, publicInputSchema } from '../../../core/tools/input.ts';
import type { JsonSchema } from '../../../core/tools/tool.ts';
import { failureOf, toolOf } from './samples.ts';

const SCHEMA: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['owner', 'repo'],
  properties: {
    owner: { type: 'string', minLength: 1 },
    repo: { type: 'string' },
    state: { type: 'string', enum: ['open', 'closed'], default: 'open' },
    labels: {
      type: 'array',
      items: { type: 'object', additionalProperties: false, properties: { name: { type: 'string' } } },
    },
    since: { type: 'string', format: 'date-time' },
  },
};
const TOOL = toolOf({ input_schema: SCHEMA });

describe('The input of a tool', () => {
  const checker = createInputChecker();
  const fields = (input: unknown) => failureOf(() => checker.check(TOOL, input)).fields;

  it("gets its defaults, and the caller's object does not change", () => {
    const input = { owner: 'o', repo: 'r' };
    expect(checker.check(TOOL, input).input).to.deep.equal({ owner: 'o', repo: 'r', state: 'open' });
    expect(input).to.deep.equal({ owner: 'o', repo: 'r' });
  });

  it('reports every invalid field by its path', () => {
    expect(
      fields({ owner: '', state: 'x', labels: [{ name: 'a' }, { name: 1, colour: 'red' }], since: 'today', extra: 1 }),
    ).to.have.members([
      'tool_input.repo',
      'tool_input.owner',
      'tool_input.state',
      'tool_input.labels[1].name',
      'tool_input.labels[1].colour',
      'tool_input.since',
      'tool_input.extra',
    ]);
  });

  it('is checked against any pattern in time bounded by the length of the input (E12)', () => {
    const properties = {
      name: { type: 'string', pattern: '^(a+)+$' },
      names: { type: 'object', patternProperties: { '^(b|b)*$': { type: 'string' } }, additionalProperties: false },
    };
    const tool = toolOf({ input_schema: { type: 'object', additionalProperties: false, properties } });
    const input = { name: `${'a'.repeat(5000)}!`, names: { [`${'b'.repeat(5000)}!`]: 'x', b: 'y' } };
    const { fields: offending } = failureOf(() => checker.check(tool, input));
    expect(offending).to.include('tool_input.name').and.to.have.length(2);
    expect(checker.check(tool, { name: 'aaa', names: { bb: 'x' } }).input).to.have.property('name');
  });

  it('is checked against patterns for a limited time in total (E12)', () => {
    const item = { type: 'string', pattern: '(a?){900}b' };
    const properties = { names: { type: 'array', items: item } };
    const tool = toolOf({ input_schema: { type: 'object', additionalProperties: false, properties } });
    const check = (names: string[]) => () => checker.check(tool, { names });
    const { code, fields: offending } = failureOf(check(Array.from({ length: 100 }, () => 'a'.repeat(2000))));
    expect(code).to.equal('INVALID_TOOL_INPUT');
    expect(offending).to.deep.equal(['tool_input']);
    expect(check(['ab'])().input).to.deep.equal({ names: ['ab'] });
  });

  it('must be an object', () => {
    for (const input of [null, undefined, [], 'x', 1]) expect(fields(input)).to.deep.equal(['tool_input']);
  });

  it('has a maximum size and a maximum nesting depth (E12)', () => {
    const open = toolOf();
    let deep: unknown = 'x';
    for (let i = 0; i < TOOL_INPUT.levels; i++) deep = [deep];
    expect(failureOf(() => checker.check(open, { deep })).code).to.equal('INVALID_TOOL_INPUT');
    expect(failureOf(() => checker.check(open, { big: 'x'.repeat(TOOL_INPUT.bytes) })).code).to.equal(
      'INVALID_TOOL_INPUT',
    );
    expect(checker.check(open, { fine: 'x'.repeat(1000) }).input).to.have.property('fine');
  });

  it('cannot change a prototype', () => {
    expect(fields(JSON.parse('{"__proto__": {"owner": "x"}}'))).to.deep.equal(['tool_input']);
    expect(failureOf(() => checker.check(toolOf(), JSON.parse('{"a": {"__proto__": {}}}'))).code).to.equal(
      'INVALID_TOOL_INPUT',
    );
  });

  it('is never checked by a schema from another place (E12)', () => {
    const remote = toolOf({
      input_schema: { type: 'object', properties: { a: { $ref: 'https://evil.example/s.json' } } },
    });
    expect(() => checker.check(remote, {})).to.throw('another document');
  });

  it('is checked by the current schema of its tool, also when others were used in between', () => {
    const small = createInputChecker(1);
    const strict = toolOf({ name: 'acme_a', input_schema: SCHEMA });
    const loose = toolOf({ name: 'acme_b' });
    for (let i = 0; i < 3; i++) {
      expect(failureOf(() => small.check(strict, {})).fields).to.have.members(['tool_input.owner', 'tool_input.repo']);
      expect(small.check(loose, {}).input).to.deep.equal({});
    }
    expect(small.check({ ...strict, input_schema: { type: 'object' } }, {}).input).to.deep.equal({});
  });

  it('contains a cursor only if the tool has pagination', () => {
    const paged = toolOf({ input_schema: SCHEMA, pagination: { style: 'link_header' } });
    expect(checker.check(paged, { owner: 'o', repo: 'r', cursor: 'abc' }).cursor).to.equal('abc');
    expect(checker.check(paged, { owner: 'o', repo: 'r', cursor: '' }).cursor).to.equal(undefined);
    expect(failureOf(() => checker.check(paged, { owner: 'o', repo: 'r', cursor: 1 })).fields).to.deep.equal([
      'tool_input.cursor',
    ]);
    expect(fields({ owner: 'o', repo: 'r', cursor: 'abc' })).to.deep.equal(['tool_input.cursor']);
    expect(publicInputSchema(paged)['properties']).to.have.property('cursor');
    expect(publicInputSchema(TOOL)['properties']).to.not.have.property('cursor');
  });
});
