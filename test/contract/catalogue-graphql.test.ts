import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { compareTool } from '../../scripts/catalogue-vendors/compare.ts';
import { openDocument } from '../../scripts/catalogue-vendors/document.ts';
import { plantMistakes } from '../../scripts/catalogue-vendors/mutations.ts';
import { FOLDER } from '../../scripts/catalogue-vendors/source.ts';
import type { VendorDocument } from '../../scripts/catalogue-vendors/vendor-document.ts';

const SCHEMA = `
  enum State { OPEN DONE }
  input NoteFilter { state: State!, tags: [String!], inner: NoteFilter }
  interface Entry { id: ID! }
  type Note implements Entry { id: ID!, title: String!, size: Int }
  type Query { notes(filter: NoteFilter, first: Int = 10): [Entry!]! }
  type Mutation { closeNote(id: ID!): Note }
`;
const LIST: ToolDefinition = {
  name: 'notes_list',
  title: 'Notes',
  description: '',
  tags: [],
  examples: [],
  scopes: [],
  hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
  input_schema: {
    type: 'object',
    properties: {
      state: { type: 'string', enum: ['OPEN'], default: 'OPEN' },
      limit: { type: 'integer', minimum: 1, maximum: 50 },
    },
  },
  output_schema: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } } } },
  request: {
    method: 'POST',
    path: '/graphql',
    body: {
      format: 'json',
      value: {
        query:
          'query ($filter: NoteFilter, $limit: Int) { notes(filter: $filter, first: $limit) { id ... on Note { title size } } }',
        variables: { filter: { state: { $input: 'state' } }, limit: { $input: 'limit' } },
      },
    },
  },
  response: { select: '/data/notes', fields: ['/id', '/title', '/size'] },
};

describe('the comparison of tools with GraphQL schemas', () => {
  let vendor: VendorDocument;
  before(async function () {
    const library = new URL('node_modules/graphql', FOLDER);
    // Only `make catalogue-vendors` installs this package, with the descriptions, because the server does not need it.
    if (!existsSync(library)) this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'valetkey-graphql-'));
    await mkdir(join(folder, 'node_modules/notes'), { recursive: true });
    await symlink(fileURLToPath(library), join(folder, 'node_modules/graphql'));
    await writeFile(join(folder, 'node_modules/notes/schema.graphql'), SCHEMA);
    vendor = await openDocument({ package: 'notes', file: 'schema.graphql' }, pathToFileURL(`${folder}/`));
  });

  const withQuery = (query: string, variables: object = {}, change: object = {}): ToolDefinition => ({
    ...LIST,
    request: { ...LIST.request, body: { format: 'json', value: { query, variables } } },
    ...change,
  });

  it('reports nothing for a query that the schema allows', () => {
    expect(compareTool(LIST, vendor)).to.deep.equal([]);
  });

  it('names fields, arguments and variables that the schema does not have', () => {
    const close = 'mutation ($id: ID!) { closeNote(id: $id) { id titel } }';
    const found = compareTool(withQuery(close, {}, { response: { fields: ['/data/closeNote/titel'] } }), vendor);
    expect(found?.[0]).to.include('query: Cannot query field "titel" on type "Note".');
    expect(found).to.include.members([
      'body/variables/id: is required',
      'response /data/closeNote/titel: is not in the description',
    ]);
    expect(compareTool(withQuery('{ notes(last: 3) { id } }'), vendor)).to.include(
      'query: Unknown argument "last" on field "Query.notes".',
    );
  });

  it('compares inputs and results with the types of the schema', () => {
    const { limit } = LIST.input_schema['properties'] as Record<string, object>;
    const input_schema = {
      type: 'object',
      properties: { state: { enum: ['open'] }, limit: { ...limit, type: 'string' } },
    };
    const output_schema = { type: 'array', items: { type: 'object', properties: { size: { type: 'string' } } } };
    expect(compareTool({ ...LIST, input_schema, output_schema }, vendor)).to.have.members([
      'body/variables/filter/state: open is not among the values',
      'body/variables/filter/state: is required',
      'body/variables/limit: is integer, not string',
      'response /data/notes/*/size: is integer, not string',
    ]);
  });

  it('does not compare a tool that sends no query, or one of another API', () => {
    const request = { ...LIST.request, body: { format: 'json' as const, value: { text: 'x' } } };
    expect(compareTool({ ...LIST, request }, vendor)).to.equal(undefined);
    expect(compareTool(withQuery('{ pages { id } }'), vendor)).to.equal(undefined);
  });

  it('detects every planted mistake', () => {
    const { planted, missed } = plantMistakes(LIST, vendor, []);
    expect(missed).to.deep.equal([]);
    expect(planted).to.be.greaterThan(12);
  });
});
