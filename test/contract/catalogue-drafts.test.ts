import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Drafts, ToolWords } from '../../scripts/catalogue-drafts/drafts.ts';
import { toolOf } from '../../scripts/catalogue-drafts/tool.ts';
import { sampleOf, typed } from '../../scripts/catalogue-drafts/typed.ts';
import { openDocument } from '../../scripts/catalogue-vendors/document.ts';
import type { StampedDocument } from '../../scripts/catalogue-vendors/stamps.ts';

const NOTE = {
  type: 'object',
  required: ['title'],
  properties: {
    id: { type: 'string' },
    title: { type: 'string', maxLength: 50, description: 'Words of the vendor.' },
    dueOn: { type: 'string', format: 'date' },
    labels: { type: 'array', items: { type: 'string' } },
    owner: { type: 'object', properties: { name: { type: 'string' } } },
    text: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }, { type: 'null' }] },
  },
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const DESCRIPTION = {
  openapi: '3.0.3',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/v1/boxes/{boxId}/notes': {
      parameters: [{ in: 'path', name: 'boxId', required: true, schema: { type: 'string' } }],
      get: {
        parameters: [
          { in: 'query', name: 'pageSize', schema: { type: 'integer', maximum: 100 } },
          { in: 'query', name: 'labels', explode: false, schema: { type: 'array', items: { type: 'string' } } },
        ],
        responses: {
          200: {
            description: 'Notes',
            ...json({ type: 'object', properties: { notes: { type: 'array', items: NOTE } } }),
          },
        },
      },
      post: { requestBody: json(NOTE), responses: { 201: { description: 'Made', ...json(NOTE) } } },
    },
  },
};
const DRAFTS: Drafts = {
  connector: 'notes',
  on: '2026-11-23',
  inputs: { box_id: 'The id of the box.', 'page_size=?pageSize': ['int 1..100 =20', 'Notes per page.'] },
  pages: { offset: { style: 'offset', request: { in: 'query', name: 'offset', page_size_input: 'page_size' } } },
  tools: {},
};

describe('drafts of tools', () => {
  let documents: StampedDocument[];
  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'valetkey-drafts-'));
    await mkdir(join(folder, 'node_modules/notes'), { recursive: true });
    await writeFile(join(folder, 'node_modules/notes/api.json'), JSON.stringify(DESCRIPTION));
    const source = { package: 'notes', file: 'api.json', under: '/v1' };
    documents = [{ stamp: 'notes 1, api.json', vendor: await openDocument(source, pathToFileURL(`${folder}/`)) }];
  });
  const drafted = (said: ToolWords, drafts = DRAFTS) => toolOf(said, 'notes', drafts, documents);
  const LIST: ToolWords = {
    do: 'list_notes',
    call: 'GET /boxes/{box_id}/notes',
    says: 'Lists the notes of a box.',
    use: 'page_size',
    in: { labels: 'Only notes with these labels.' },
    from: '/notes',
    keep: 'id owner/name',
    page: 'offset',
  };

  it('take locations and types from the API description, and texts from words.yaml', () => {
    const { input_schema, output_schema, request, pagination, compared, description } = drafted(LIST);
    expect(input_schema).to.deep.equal({
      type: 'object',
      additionalProperties: false,
      required: ['box_id'],
      properties: {
        box_id: { type: 'string', minLength: 1, maxLength: 200, description: 'The id of the box.' },
        page_size: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Notes per page.' },
        labels: { type: 'array', items: { type: 'string' }, description: 'Only notes with these labels.' },
      },
    });
    expect(request).to.deep.equal({
      method: 'GET',
      path: '/boxes/{box_id}/notes',
      query: { pageSize: { $input: 'page_size' }, labels: { $join: { input: 'labels', separator: ',' } } },
    });
    expect(pagination?.request?.page_size_input).to.equal('page_size');
    expect(pagination?.response?.items).to.equal('/notes');
    expect(output_schema).to.have.nested.property('items.properties.owner.properties.name.type', 'string');
    expect(compared).to.deep.equal({ with: 'notes 1, api.json', on: '2026-11-23' });
    expect(description).to.equal('Lists the notes of a box. Changes nothing.');
  });

  it('select the usual part of the response, also if it is described as a list', () => {
    const usual: Drafts = { ...DRAFTS, usual: { from: '/notes' } };
    const { from: _, ...words } = LIST;
    expect(drafted({ ...words, gives: 'list' }, usual).response).to.deep.equal({
      select: '/notes',
      fields: ['/id', '/owner/name'],
    });
    expect(drafted({ ...words, page: 'none', gives: 'text' }, usual).response?.select).to.equal(undefined);
  });

  it('name the API description that was read if no command can compare with it', () => {
    const read: Drafts = { ...DRAFTS, with: 'notes/sdk 1, notes.ts' };
    const words: ToolWords = { do: 'get_box', call: 'GET /places', says: 'Returns the box.', keep: 'id' };
    expect(drafted(words, read).compared).to.deep.equal({ with: 'notes/sdk 1, notes.ts', on: '2026-11-23' });
    expect(drafted(LIST, read).compared?.with).to.equal('notes 1, api.json');
  });

  it('put inputs into the body under the names of the API description', () => {
    const words: ToolWords = {
      do: 'create_note',
      call: 'POST /boxes/{box_id}/notes',
      says: 'Makes a note in a box.',
      in: { title: 'The title.', due_on: 'The day on which it is due.' },
      fixed: { '/owner/name': 'Ada' },
      keep: 'id',
    };
    const { input_schema, request, examples, hints } = drafted(words);
    expect(input_schema['required']).to.deep.equal(['box_id', 'title']);
    expect(JSON.stringify(input_schema)).to.include('"maxLength":50').and.not.include('Words of the vendor');
    expect(request.body).to.deep.equal({
      format: 'json',
      value: { title: { $input: 'title' }, dueOn: { $input: 'due_on' }, owner: { name: 'Ada' } },
    });
    expect(examples).to.deep.equal([{ input: { box_id: 'example', title: 'example' }, note: 'Create note.' }]);
    expect(hints).to.include({ read_only: false, destructive: false, idempotent: false });
  });

  it('refuse an input without a text, without a type, and one that the API description does not have', () => {
    expect(() => drafted({ ...LIST, use: 'missing' })).to.throw('there is no text for the input missing');
    expect(() => drafted({ ...LIST, in: { colour: 'The colour.' } })).to.throw(
      'colour: is not in the description of the API: say its type',
    );
    expect(() => drafted({ ...LIST, keep: 'size' })).to.throw('the description knows no member size');
  });

  it('need no API description if words.yaml contains the types', () => {
    const { input_schema, output_schema, compared } = drafted({
      do: 'search_pages',
      call: 'GET /pages',
      says: 'Finds pages by words.',
      in: { 'q!': ['string 1..50', 'The words.', 'plan'] },
      keep: 'id tags/*/name',
    });
    expect(input_schema).to.have.nested.property('properties.q.maxLength', 50);
    expect(output_schema).to.have.nested.property('items.properties.tags.items.properties.name');
    expect(compared).to.equal(undefined);
  });

  it('refuse an unknown key, which is what follows the first comma of a text without quotes', () => {
    const said = { ...LIST, 'title&all=true': null } as ToolWords;
    expect(() => drafted(said)).to.throw('unknown keys: title&all=true');
  });

  it('say with a reason that a PUT is not idempotent, because it would be sent again after a lost connection', () => {
    const words: ToolWords = { do: 'send_box', call: 'PUT /send', says: 'Sends the box.', keep: 'id' };
    const { reason, ...usual } = drafted(words).hints;
    expect(usual).to.include({ idempotent: true });
    expect(reason).to.equal(undefined);
    const again = drafted({ ...words, hint: 'add' }).hints;
    expect(again).to.include({ idempotent: false });
    expect(again.reason).to.be.a('string');
  });

  it('have all types of a member whose alternatives differ', () => {
    const { output_schema } = drafted({ ...LIST, keep: 'text' });
    expect(output_schema).to.have.deep.nested.property('items.properties.text.type', ['string', 'array', 'null']);
  });

  it('leave members untyped that are any JSON, although the API description types them', () => {
    const { output_schema } = drafted(LIST, { ...DRAFTS, any: ['owner'] });
    expect(output_schema).to.have.deep.nested.property('items.properties.owner', {});
  });

  it('keep reviewed differences only with tools that have them', () => {
    const differs = { 'query pageSize: is not in the description': 'Never.', 'body/title: is required': 'Reviewed.' };
    const words = { do: 'create_note', call: 'POST /boxes/{box_id}/notes', says: 'Makes a note.', keep: 'id' };
    const said = { ...words, in: { 'title?': 'The title.' } };
    expect(drafted(said, { ...DRAFTS, differs }).compared?.differs).to.deep.equal({
      'body/title: is required': 'Reviewed.',
    });
    expect(drafted(LIST, { ...DRAFTS, differs }).compared).to.not.have.property('differs');
  });

  it('read types written as text', () => {
    expect(typed('int 1..10 =3')).to.deep.equal({ type: 'integer', minimum: 1, maximum: 10, default: 3 });
    expect(typed('a|b')).to.deep.equal({ type: 'string', enum: ['a', 'b'] });
    expect(typed('string* ..5')).to.deep.equal({ type: 'array', items: { type: 'string' }, maxItems: 5 });
    expect(typed([{ 'name!': 'text', type: 'string' }])).to.have.nested.property(
      'items.properties.type.type',
      'string',
    );
    expect(typed({ type: 'string', pattern: 'x' })).to.deep.equal({ type: 'string', pattern: 'x' });
    expect(() => typed('strnig')).to.throw('there is no type strnig');
    expect(() => typed('bool 1..2')).to.throw('1..2 has no meaning');
    expect(sampleOf(typed('email'))).to.equal('ada@acme.example');
    expect(sampleOf(typed('int 100..'))).to.equal(100);
  });
});
