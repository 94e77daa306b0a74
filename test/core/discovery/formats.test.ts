import { isSpecType } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { anthropicTool, mcpTool, openAiTool } from '../../../core/discovery/formats.ts';
import type { JsonSchema } from '../../../core/tools/tool.ts';
import { readCatalogueJson } from '../../support/catalogue-json.ts';
import { ownTool } from '../../support/own-tools.ts';

const tools = Object.values(readCatalogueJson().tools);

/** What the model APIs refuse, at every depth of a schema. */
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

describe('the shapes of tools for models', () => {
  it('are legal for every tool of the catalogue', () => {
    for (const tool of tools) {
      const { function: named } = openAiTool(tool);
      expect(named.name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(problems(named.parameters), tool.name).to.deep.equal([]);
      expect(problems(anthropicTool(tool).input_schema), tool.name).to.deep.equal([]);
      expect(anthropicTool(tool).name).to.match(/^[a-zA-Z0-9_-]{1,128}$/);
    }
  });

  it('are tools of the protocol in the words of its own library', () => {
    const [first] = tools as [(typeof tools)[0]];
    expect(isSpecType.Tool({ ...mcpTool(first), inputSchema: { type: 'array' } }), 'the control').to.equal(false);
    for (const tool of tools) expect(isSpecType.Tool(mcpTool(tool)), tool.name).to.equal(true);
  });

  it('show the cursor of tools with pages, as the call takes it', () => {
    const paged = tools.find((tool) => tool.pagination) as (typeof tools)[0];
    for (const schema of [
      openAiTool(paged).function.parameters,
      anthropicTool(paged).input_schema,
      mcpTool(paged).inputSchema,
    ]) {
      expect(schema['properties']).to.have.property('cursor');
    }
  });

  it('leave an input alone whose name is a word of JSON Schema, and the values in it', () => {
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
