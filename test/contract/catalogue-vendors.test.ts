import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { compareTool } from '../../scripts/catalogue-vendors/compare.ts';
import { openDocument, type VendorDocument } from '../../scripts/catalogue-vendors/document.ts';
import { plantMistakes } from '../../scripts/catalogue-vendors/mutations.ts';
import { checkStamp } from '../../scripts/catalogue-vendors/stamps.ts';
import { withStamp } from '../../scripts/catalogue-vendors/write-stamp.ts';

const DESCRIPTION = {
  openapi: '3.0.3',
  info: { title: 'Notes', version: '1' },
  security: [{ oauth: ['notes'] }],
  paths: {
    '/v1/notes': {
      get: {
        parameters: [
          { in: 'query', name: 'state', required: true, schema: { type: 'string', enum: ['open', 'done'] } },
          { in: 'query', name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100 } },
          { in: 'query', name: 'after', schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'Notes',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    next: { type: 'string' },
                    notes: { type: 'array', items: { $ref: '#/components/schemas/Note' } },
                  },
                },
              },
            },
          },
        },
      },
      post: {
        requestBody: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
        },
        responses: { 201: { description: 'Made' } },
      },
    },
    '/v1/teams/{team}/leave': {
      post: {
        parameters: [{ in: 'path', name: 'team', required: true, schema: { type: 'string' } }],
        responses: { 204: { description: 'Left' } },
      },
    },
  },
  components: {
    schemas: {
      Note: {
        type: 'object',
        required: ['title'],
        properties: { title: { type: 'string', maxLength: 50 }, tags: { type: 'array', items: { type: 'string' } } },
      },
    },
  },
};

const COMMON = { title: 'Notes', description: '', tags: [], examples: [], scopes: [['notes']], output_schema: {} };
const HINTS = { read_only: true, destructive: false, idempotent: true, open_world: false };
const LIST: ToolDefinition = {
  ...COMMON,
  name: 'notes_list',
  hints: HINTS,
  input_schema: {
    type: 'object',
    required: ['state'],
    properties: {
      state: { type: 'string', enum: ['open'] },
      limit: { type: 'integer', minimum: 1, maximum: 50 },
    },
  },
  request: { method: 'GET', path: '/notes{?state,limit}' },
  pagination: { style: 'cursor', request: { in: 'query', name: 'after' }, response: { cursor: '/next' } },
  response: { select: '/notes', fields: ['/title'] },
};
const MAKE: ToolDefinition = {
  ...COMMON,
  name: 'notes_make',
  hints: HINTS,
  input_schema: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 50 } } },
  request: {
    method: 'POST',
    path: '/notes',
    body: { format: 'json', value: { title: { $input: 'name' }, tags: ['new'] } },
  },
};

describe('the comparison of tools with API descriptions of vendors', () => {
  let vendor: VendorDocument;
  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'valetkey-vendors-'));
    await mkdir(join(folder, 'node_modules/notes'), { recursive: true });
    await writeFile(join(folder, 'node_modules/notes/api.json'), JSON.stringify(DESCRIPTION));
    const source = { package: 'notes', file: 'api.json', under: '/v1' };
    vendor = await openDocument(source, pathToFileURL(`${folder}/`));
  });

  it('reports nothing for tools that send what the description says', () => {
    expect([compareTool(LIST, vendor), compareTool(MAKE, vendor)]).to.deep.equal([[], []]);
  });

  it('reports a tool with a path that the description does not have', () => {
    const request = { ...LIST.request, path: '/notebooks' };
    expect(compareTool({ ...LIST, request }, vendor)).to.equal(undefined);
  });

  it('names the difference', () => {
    const request = { ...MAKE.request, body: { format: 'form' as const, value: { text: { $input: 'name' } } } };
    expect(compareTool({ ...MAKE, request, scopes: [] }, vendor)).to.deep.equal([
      'body: is sent as application/json, not form',
      'scopes: none, but the description requires some',
    ]);
    const body = { format: 'json' as const, value: { text: { $input: 'name' }, tags: { $input: 'name' } } };
    expect(compareTool({ ...MAKE, request: { ...MAKE.request, body } }, vendor)).to.deep.equal([
      'body/text: is not in the description',
      'body/tags: is array, not string',
      'body/title: is required',
    ]);
  });

  it('detects every planted mistake', () => {
    for (const tool of [LIST, MAKE]) {
      const { planted, noticed, missed } = plantMistakes(tool, vendor, []);
      expect(missed).to.deep.equal([]);
      expect(noticed).to.equal(planted).and.to.be.above(6);
    }
  });

  it('compares the fields of a list although its cursor is not in the description', () => {
    const pagination = { ...LIST.pagination, response: { cursor: '/links/next' } } as ToolDefinition['pagination'];
    const response = { select: '/notes', fields: ['/title', '/colour'] };
    expect(compareTool({ ...LIST, pagination, response } as ToolDefinition, vendor)).to.deep.equal([
      'response /links/next: is not in the description',
      'response /notes/colour: is not in the description',
    ]);
  });

  it('plants no mistake in the schema of a parameter that comes from the account', () => {
    const request = { method: 'POST' as const, path: '/teams/{account.team}/leave' };
    const { planted, missed } = plantMistakes({ ...MAKE, request, input_schema: { properties: {} } }, vendor, []);
    expect(missed).to.deep.equal([]);
    expect(planted).to.equal(4);
  });

  it('detects a tool that names a description without its operation', async () => {
    const other = { ...vendor, operations: vendor.operations.filter(({ method }) => method === 'POST') };
    const documents = [
      { stamp: 'notes 1, posts.json', vendor: other },
      { stamp: 'notes 1, all.json', vendor: { ...vendor, operations: vendor.operations.slice(0, 1) } },
    ];
    const stamped = (tool: ToolDefinition, name?: string) =>
      checkStamp({ ...tool, ...(name && { compared: { with: name, on: '2026-11-23' } }) }, documents).problem;
    expect(stamped(LIST, 'notes 1, all.json')).to.equal(undefined);
    expect(stamped(MAKE, 'notes 1, posts.json')).to.equal(undefined);
    expect(stamped(LIST, 'notes 1, posts.json')).to.equal(
      'compared.with: notes 1, posts.json does not have the operation, notes 1, all.json has',
    );
    expect(stamped(LIST, 'notes 0, all.json')).to.equal(
      'compared.with: must be notes 1, all.json, not notes 0, all.json',
    );
    expect(stamped(LIST)).to.equal('compared: must name notes 1, all.json');
    const elsewhere = { ...LIST, request: { method: 'GET' as const, path: '/pages' } };
    expect(stamped(elsewhere)).to.equal(undefined);
    expect(stamped(elsewhere, 'notes 1, all.json')).to.equal(
      'compared.with: notes 1, all.json does not have the operation',
    );
  });

  it('writes the name of the description into a file, and keeps the reviewed differences', () => {
    const reviewed =
      "name: a\ncompared:\n  with: 'old'\n  on: '2026-01-01'\n  differs:\n    'query a: is required': Never.\n";
    expect(withStamp('name: a\n', 'notes 1', '2026-11-23')).to.equal(
      "name: a\ncompared:\n  with: 'notes 1'\n  on: '2026-11-23'\n",
    );
    expect(withStamp(reviewed, 'notes 1', '2026-11-23')).to.equal(
      "name: a\ncompared:\n  with: 'notes 1'\n  on: '2026-11-23'\n  differs:\n    'query a: is required': Never.\n",
    );
  });
});
