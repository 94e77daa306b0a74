import { isSpecType } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { anthropicTool, mcpTool, openAiTool } from '../../../core/discovery/formats.ts';
import { type GeminiSchema, geminiTool } from '../../../core/discovery/gemini.ts';
import { strictSchema } from '../../../core/discovery/openai-strict.ts';
import { createInputChecker } from '../../../core/tools/input.ts';
import type { JsonSchema } from '../../../core/tools/tool.ts';
import { readCatalogueJson } from '../../support/catalogue-json.ts';
import { ownTool } from '../../support/own-tools.ts';

const tools = Object.values(readCatalogueJson().tools);

/** Returns what the model APIs would reject, at every depth of a schema. */
function problems(schema: unknown, top = true): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((item) => problems(item, false));
  const { properties = {}, ...rest } = schema as { properties?: Record<string, JsonSchema> };
  const found = ['$ref', '$id', '$schema', '$comment', '$defs'].filter((word) => word in rest);
  if (top && (rest as JsonSchema)['type'] !== 'object') found.push('the top is no object');
  if (top) found.push(...['oneOf', 'anyOf', 'allOf', 'not', 'enum'].filter((word) => word in rest));
  const keys = Object.keys(properties).filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
  return [
    ...found,
    ...keys,
    ...Object.values(properties).flatMap((each) => problems(each, false)),
    ...Object.entries(rest).flatMap(([key, value]) => (key === 'default' ? [] : problems(value, false))),
  ];
}

describe('tool definitions for models', () => {
  it('are valid for every tool of the catalogue', () => {
    for (const tool of tools) {
      const { function: named } = openAiTool(tool);
      expect(named.name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(problems(named.parameters), tool.name).to.deep.equal([]);
      expect(problems(anthropicTool(tool).input_schema), tool.name).to.deep.equal([]);
      expect(anthropicTool(tool).name).to.match(/^[a-zA-Z0-9_-]{1,128}$/);
    }
  });

  it('satisfy the schema of the MCP SDK', () => {
    const [first] = tools as [(typeof tools)[0]];
    expect(isSpecType.Tool({ ...mcpTool(first), inputSchema: { type: 'array' } }), 'the control').to.equal(false);
    for (const tool of tools) expect(isSpecType.Tool(mcpTool(tool)), tool.name).to.equal(true);
  });

  it('show the cursor of tools with pages in the form that the call accepts', () => {
    const paged = tools.find((tool) => tool.pagination) as (typeof tools)[0];
    for (const schema of [
      openAiTool(paged).function.parameters,
      anthropicTool(paged).input_schema,
      mcpTool(paged).inputSchema,
    ]) {
      expect(schema['properties']).to.have.property('cursor');
    }
  });

  it('keep an input whose name is a JSON Schema keyword, and the values in it', () => {
    const tool = ownTool('mine', 'mine_get', {
      input_schema: {
        type: 'object',
        additionalProperties: false,
        $comment: 'for the author',
        properties: {
          format: { type: 'string', description: 'a', default: { $comment: 'kept' }, $comment: 'gone' },
          properties: { type: 'object', description: 'b', additionalProperties: { type: 'string' } },
        },
      },
      output_schema: { type: 'array', items: { type: 'object' } },
    });
    expect(anthropicTool(tool).input_schema).to.deep.equal({
      type: 'object',
      additionalProperties: false,
      properties: {
        format: { type: 'string', description: 'a', default: { $comment: 'kept' } },
        properties: { type: 'object', description: 'b', additionalProperties: { type: 'string' } },
      },
    });
    expect(mcpTool(tool)).not.to.have.property('outputSchema');
  });
});

/** Returns what the Gemini API would reject in a `Schema`. */
function geminiProblems(schema: GeminiSchema, place = ''): string[] {
  const { type, anyOf, enum: values, properties = {}, required = [], items, description, nullable, ...others } = schema;
  const found = Object.keys(others);
  if (anyOf && (type ?? description ?? nullable) !== undefined) found.push('something beside anyOf');
  if (!anyOf && !/^(STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT)$/.test(String(type))) found.push(`type ${type}`);
  if (values && (type !== 'STRING' || values.length === 0 || values.includes(''))) found.push('enum');
  if ((type === 'ARRAY') !== (items !== undefined)) found.push('items');
  if ('properties' in schema && Object.keys(properties).length === 0) found.push('properties without any');
  found.push(...required.filter((name) => !Object.hasOwn(properties, name)));
  return [
    ...found.map((problem) => `${place}: ${problem}`),
    ...Object.entries(properties).flatMap(([name, member]) => geminiProblems(member, `${place}/${name}`)),
    ...(items ? geminiProblems(items, `${place}/items`) : []),
    ...(anyOf ?? []).flatMap((branch) => geminiProblems(branch, `${place}/anyOf`)),
  ];
}

/** Returns what OpenAI would reject in the schema of a strict function. */
function strictProblems(schema: JsonSchema, place = ''): string[] {
  const {
    type,
    anyOf,
    enum: _values,
    properties,
    required,
    additionalProperties,
    items,
    description: _,
    ...others
  } = schema;
  const types = [type].flat();
  const found = Object.keys(others);
  if (place === '' && type !== 'object') found.push('the top is no object');
  if ((type === undefined) !== (anyOf !== undefined)) found.push('type');
  if (types.includes('array') && !items) found.push('items');
  if (types.includes('object')) {
    if (additionalProperties !== false) found.push('open');
    if (String(required) !== String(Object.keys(properties ?? {}))) found.push('optional');
  }
  return [
    ...found.map((problem) => `${place}: ${problem}`),
    ...Object.entries((properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, member]) =>
      strictProblems(member, `${place}/${name}`),
    ),
    ...(items ? strictProblems(items as JsonSchema, `${place}/items`) : []),
    ...((anyOf ?? []) as JsonSchema[]).flatMap((branch) => strictProblems(branch, `${place}/anyOf`)),
  ];
}

function toolOf(properties: Record<string, JsonSchema>, more: JsonSchema = {}) {
  return ownTool('mine', 'mine_get', { input_schema: { type: 'object', properties, ...more } });
}

describe('tool definitions for Gemini', () => {
  it('are valid for every tool of the catalogue', () => {
    expect(geminiProblems({ type: ['string', 'null'] } as never), 'the control').not.to.deep.equal([]);
    for (const tool of tools) {
      const { parameters } = geminiTool(tool);
      if (parameters) expect(geminiProblems(parameters), tool.name).to.deep.equal([]);
      const names = Object.keys((anthropicTool(tool).input_schema['properties'] as object | undefined) ?? {});
      expect(Object.keys(parameters?.properties ?? {}), tool.name).to.deep.equal(names);
    }
  });

  it("express types, choices and limits in the API's terms", () => {
    const { parameters } = geminiTool(
      toolOf(
        {
          plain: { type: 'string', description: 'A name', minLength: 1, maxLength: 9, pattern: '^a', default: 'ab' },
          nullable: { type: ['integer', 'null'], minimum: 0 },
          either: { type: ['string', 'integer'], description: 'A name or a number.' },
          level: { type: 'integer', enum: [1, 2] },
          size: { enum: ['', 's'] },
          fixed: { const: 'yes' },
          any: { description: 'Anything.' },
          free: { type: 'object', additionalProperties: { type: 'string' } },
          tags: { type: 'array', uniqueItems: true, maxItems: 3 },
          node: { $ref: '#/$defs/node' },
        },
        { required: ['plain'], $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } },
      ),
    );
    expect(geminiProblems(parameters as GeminiSchema)).to.deep.equal([]);
    expect(parameters).to.deep.include({ type: 'OBJECT', required: ['plain'] });
    expect(parameters?.properties).to.deep.equal({
      plain: { type: 'STRING', description: 'A name. Pattern: ^a 1 to 9 characters. Default: "ab".' },
      nullable: { type: 'INTEGER', nullable: true, description: '0 or more.' },
      either: {
        anyOf: [
          { type: 'STRING', description: 'A name or a number.' },
          { type: 'INTEGER', description: 'A name or a number.' },
        ],
      },
      level: { type: 'INTEGER', description: 'One of 1, 2.' },
      size: { type: 'STRING', description: 'One of "", "s".' },
      fixed: { type: 'STRING', enum: ['yes'] },
      any: {
        anyOf: [
          ...['STRING', 'NUMBER', 'BOOLEAN'].map((type) => ({ type, description: 'Anything.' })),
          {
            type: 'ARRAY',
            description: 'Anything.',
            items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] },
          },
          { type: 'OBJECT', description: 'Anything.' },
        ],
      },
      free: { type: 'OBJECT' },
      tags: {
        type: 'ARRAY',
        description: 'At most 3 items. Items must be unique.',
        items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] },
      },
      node: { type: 'OBJECT', properties: { next: { type: 'OBJECT' } } },
    });
  });

  it('X7: are valid for lists of choices, repeated choices, and null as the only type', () => {
    const { parameters } = geminiTool(
      toolOf({
        pair: { type: 'array', enum: [[1, 2], [3]] },
        twice: { enum: ['a', 'b', 'a'] },
        nothing: { type: 'null' },
        never: { const: null },
      }),
    );
    expect(geminiProblems(parameters as GeminiSchema)).to.deep.equal([]);
    expect(parameters?.properties?.['twice']).to.deep.equal({ type: 'STRING', enum: ['a', 'b'] });
  });

  it('have no parameters for a tool without inputs', () => {
    expect(geminiTool(toolOf({}))).to.have.all.keys('name', 'description');
  });
});

describe('strict tool definitions for OpenAI', () => {
  it('are valid for every tool of the catalogue that they can express, and mark the others', () => {
    expect(strictProblems({ type: 'object', properties: { a: { type: 'string' } } }), 'the control').not.to.deep.equal(
      [],
    );
    const loose = tools.filter((tool) => {
      const { strict, parameters } = openAiTool(tool, true).function;
      if (strict) expect(strictProblems(parameters), tool.name).to.deep.equal([]);
      else expect(parameters, tool.name).to.deep.equal(openAiTool(tool).function.parameters);
      return !strict;
    });
    expect(loose.length, 'of them take members of any name').to.be.lessThan(tools.length / 30);
    for (const { input_schema } of loose)
      expect(JSON.stringify(input_schema)).to.match(/additionalProperties":(\{|true)/);
  });

  it('require every input, and accept null for optional ones', () => {
    const { input_schema } = toolOf(
      {
        name: { type: 'string', maxLength: 9 },
        size: { enum: ['s', 'm', 's'] },
        owner: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, note: { type: 'string' } } },
      },
      { required: ['name'] },
    );
    expect(strictSchema(input_schema)).to.deep.equal({
      type: 'object',
      additionalProperties: false,
      required: ['name', 'size', 'owner'],
      properties: {
        name: { type: 'string', description: 'At most 9 characters.' },
        size: { type: ['string', 'null'], enum: ['s', 'm', null] },
        owner: {
          type: ['object', 'null'],
          additionalProperties: false,
          required: ['id', 'note'],
          properties: { id: { type: 'string' }, note: { type: ['string', 'null'] } },
        },
      },
    });
  });

  for (const [what, member] of [
    ['members of any name', { type: 'object', additionalProperties: { type: 'string' } }],
    ['members that are not described', { type: 'object' }],
    ['a value of any type', { description: 'Anything.' }],
    ['items of any type', { type: 'array' }],
    ['a circle', { $ref: '#' }],
    ['a choice of lists', { type: 'array', enum: [[1, 2], [3]] }],
    ['a choice of objects', { enum: [{ a: 1 }] }],
    [
      'alternatives that begin with the same member',
      {
        anyOf: ['a', 'b'].map((name) => ({
          type: 'object',
          properties: { id: { type: 'string' }, [name]: { type: 'string' } },
        })),
      },
    ],
    ['too many values', { type: 'integer', enum: Array.from({ length: 1001 }, (_, index) => index) }],
  ] as [string, JsonSchema][]) {
    it(`cannot express ${what}`, () => {
      expect(strictSchema(toolOf({ name: { type: 'string' } }).input_schema)).to.be.an('object');
      expect(strictSchema(toolOf({ member }).input_schema)).to.equal(undefined);
    });
  }

  it('have inputs that the tool accepts unchanged, with null for omitted ones', () => {
    const checker = createInputChecker();
    const tool = toolOf(
      {
        name: { type: 'string' },
        size: { type: 'string', enum: ['s', 'm'], default: 's' },
        note: { type: ['string', 'null'] },
        any: {},
        list: {
          type: 'array',
          items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        },
        either: { anyOf: [{ type: 'object', properties: { x: { type: 'integer' } } }, { type: 'string' }] },
      },
      { required: ['name'], additionalProperties: false },
    );
    const call = { size: null, note: null, any: null, list: [{ a: 'x', b: null }], either: { x: null } };
    expect(() => checker.check(tool, { ...call, name: null })).to.throw('tool_input');
    expect(() => checker.check(tool, { ...call, name: 'n', unknown: null })).to.throw('tool_input');
    expect(checker.check(tool, { ...call, name: 'n' }).input).to.deep.equal({
      name: 'n',
      size: 's',
      note: null,
      any: null,
      list: [{ a: 'x' }],
      either: {},
    });
  });
});
