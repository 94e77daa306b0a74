import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { compareTool } from '../../scripts/catalogue-vendors/compare.ts';
import { openDocument } from '../../scripts/catalogue-vendors/document.ts';
import { plantMistakes } from '../../scripts/catalogue-vendors/mutations.ts';
import { checkStamp } from '../../scripts/catalogue-vendors/stamps.ts';
import type { VendorDocument } from '../../scripts/catalogue-vendors/vendor-document.ts';
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

/** Writes a description of the package `notes` into a new folder. @returns the folder */
async function written(description: object): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'valetkey-vendors-'));
  await mkdir(join(folder, 'node_modules/notes'), { recursive: true });
  await writeFile(join(folder, 'node_modules/notes/api.json'), JSON.stringify(description));
  return pathToFileURL(`${folder}/`);
}

describe('the comparison of tools with API descriptions of vendors', () => {
  let vendor: VendorDocument;
  before(async () => {
    const source = { package: 'notes', file: 'api.json', under: '/v1' };
    vendor = await openDocument(source, await written(DESCRIPTION));
  });

  it('reports nothing for tools that send what the description says', () => {
    expect([compareTool(LIST, vendor), compareTool(MAKE, vendor)]).to.deep.equal([[], []]);
  });

  it('reads a description of several files, whose paths lack the end that those of tools have', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'valetkey-vendors-'));
    await mkdir(join(folder, 'node_modules/notes/v1'), { recursive: true });
    const { components, ...rest } = DESCRIPTION;
    const home = 'https://files.example/v1/';
    const text = JSON.stringify(rest).replaceAll('#/components', `${home}common.json#/components`);
    await writeFile(join(folder, 'node_modules/notes/v1/api.json'), text);
    await writeFile(join(folder, 'node_modules/notes/v1/common.json'), JSON.stringify({ components }));
    const source = { package: 'notes', file: 'v1/api.json', under: '/v1', suffix: '.json', home };
    const ending = { ...MAKE, request: { ...MAKE.request, path: '/notes.json' } };
    const wrong = { ...ending, input_schema: LIST.input_schema };
    const location = pathToFileURL(`${folder}/`);
    const whole = await openDocument({ ...source, beside: ['v1/common.json'] }, location);
    const part = await openDocument(source, location);
    expect([compareTool(MAKE, whole), compareTool(ending, whole)]).to.deep.equal([undefined, []]);
    expect(compareTool(wrong, whole)).to.include('body/title: is required');
    expect(compareTool(wrong, part)).to.deep.equal([]);
  });

  it('distinguishes operations of one path by a header, as the conversions of AWS APIs write them', async () => {
    const operation = (name: string) => ({
      post: {
        requestBody: {
          content: { 'application/json': { schema: { type: 'object', properties: { [name]: { type: 'string' } } } } },
        },
      },
    });
    const location = await written({
      openapi: '3.0.3',
      paths: { '/#X-Amz-Target=Notes.Make': operation('title'), '/#X-Amz-Target=Notes.Find': operation('words') },
    });
    const described = await openDocument({ package: 'notes', file: 'api.json' }, location);
    const call = (target: string) => ({
      ...MAKE,
      request: {
        ...MAKE.request,
        path: '/',
        headers: { 'X-Amz-Target': target },
        body: { format: 'json' as const, value: { title: { $input: 'name' } } },
      },
    });
    expect(compareTool(call('Notes.Make'), described)).to.deep.equal([]);
    expect(compareTool(call('Notes.Find'), described)).to.deep.equal(['body/title: is not in the description']);
    expect(compareTool(call('Notes.Drop'), described)).to.equal(undefined);
  });

  it('reads a JSON Hyper-Schema, also two calls of one path with different bodies', async () => {
    const href = '/notes/{(%23%2Fdefinitions%2Fnote%2Fdefinitions%2Fidentity)}/copies';
    const body = (name: string) => ({ type: 'object', required: [name], properties: { [name]: { type: 'string' } } });
    const note = {
      definitions: { identity: { type: 'string' } },
      type: 'object',
      properties: { title: { type: 'string' } },
      links: [
        { href, method: 'POST', schema: body('title') },
        { href, method: 'POST', schema: body('from') },
      ],
    };
    const location = await written({ definitions: { note } });
    const described = await openDocument({ package: 'notes', file: 'api.json' }, location);
    const copy = (member: string, field: string) => ({
      ...MAKE,
      input_schema: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, id: { type: 'string' } },
      },
      request: {
        method: 'POST' as const,
        path: '/notes/{id}/copies',
        body: { format: 'json' as const, value: { [member]: { $input: 'name' } } },
      },
      response: { fields: [field] },
    });
    expect(compareTool(copy('title', '/title'), described)).to.deep.equal([]);
    expect(compareTool(copy('from', '/title'), described)).to.deep.equal([]);
    expect(compareTool(copy('text', '/text'), described)).to.deep.equal([
      'body/text: is not in the description',
      'response /text: is not in the description',
    ]);
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

  it('reports members of the body that the API ignores, and a type in place of what can also be a text or null', async () => {
    const note = {
      type: 'object',
      properties: {
        id: { type: 'string', readOnly: true },
        parent: { type: 'string' },
        made: { type: 'string', readOnly: true },
        text: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
        note: { type: 'string', nullable: true },
        other: { type: 'string', nullable: true },
      },
    };
    const content = { 'application/json': { schema: note } };
    const post = {
      parameters: [{ in: 'query', name: 'parent', schema: { type: 'string' } }],
      requestBody: { content },
      responses: { 200: { description: 'Made', content } },
    };
    const described = await openDocument(
      { package: 'notes', file: 'api.json' },
      await written({ openapi: '3.0.3', info: { title: 'Notes', version: '1' }, paths: { '/notes': { post } } }),
    );
    const value = { id: { $input: 'name' }, parent: { $input: 'name' }, made: { $input: 'name' } };
    const body = { format: 'json' as const, value };
    const properties = { text: { type: 'array', items: {} }, note: { type: 'string' }, other: {} };
    const output_schema = { type: 'object', properties };
    const input_schema = { type: 'object', properties: { name: { type: 'string' } } };
    const tool = { ...MAKE, scopes: [], input_schema, output_schema, request: { ...MAKE.request, body } };
    expect(compareTool(tool, described)).to.deep.equal([
      'body/made: is read-only',
      'body/parent: is also a parameter of the query',
      'response /text: can also be string',
      'response /note: can also be null',
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
