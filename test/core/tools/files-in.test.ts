import { expect } from 'chai';
import fc from 'fast-check';
import { placeCredential } from '../../../core/connectors/placement.ts';
import { Secret } from '../../../core/secret.ts';
import { dryRun, prepareCall, withFiles } from '../../../core/tools/call.ts';
import { decodeBase64, FileContent } from '../../../core/tools/file-content.ts';
import { fileInputSchema, storedFileIds } from '../../../core/tools/file-input.ts';
import { createInputChecker } from '../../../core/tools/input.ts';
import { encodeMultipart } from '../../../core/tools/multipart.ts';
import { renderRequest } from '../../../core/tools/request.ts';
import { schemaCompiler } from '../../../core/tools/schema-compiler.ts';
import type { Tool, ToolBody } from '../../../core/tools/tool.ts';
import { callOf, failureOf, tokenCredential, writingTool } from './samples.ts';

const FILE_ID = `file_${'0'.repeat(26)}`;
const NOTHING = { parts: [], secrets: [] };
const checker = createInputChecker();
const PIXEL = { file_name: 'dot.png', mime_type: 'image/png', content_base64: 'iVBORw==' };

function tool(body: ToolBody, parts: Partial<Tool['request']> = {}): Tool {
  const file = fileInputSchema('The file.');
  return writingTool({
    input_schema: {
      type: 'object',
      additionalProperties: true,
      properties: { file, files: { type: 'array', items: file } },
    },
    request: { method: 'POST', path: '/files', body, ...parts },
  });
}

function rendered(body: ToolBody, toolInput: object, files?: Map<string, FileContent>) {
  const call = prepareCall(callOf({ tool: tool(body), toolInput }), checker);
  return renderRequest(files ? withFiles(call, files) : call, NOTHING);
}

async function readForm({ headers, body }: { headers: Record<string, string>; body: unknown }): Promise<FormData> {
  return new Response(new Uint8Array(body as Buffer), { headers }).formData();
}

describe('A file input', () => {
  it('has exactly one of two forms, and errors name the field', () => {
    const raw: ToolBody = { format: 'raw', value: { $file: 'file' } };
    expect(failureOf(() => rendered(raw, { file: {} })).fields).to.deep.equal(['tool_input.file']);
    const both = { file: { content_base64: 'AA==', file_id: FILE_ID } };
    expect(failureOf(() => rendered(raw, both)).fields).to.deep.equal(['tool_input.file']);
    for (const content_base64 of ['no base64!', 'AAAAA', 'AA=A']) {
      const { fields } = failureOf(() => rendered(raw, { file: { content_base64 } }));
      expect(fields, content_base64).to.deep.equal(['tool_input.file.content_base64']);
    }
    expect(failureOf(() => rendered(raw, { file: { path: '/etc/passwd' } })).fields).to.deep.equal([
      'tool_input.file.path',
    ]);
    expect(failureOf(() => rendered(raw, { file: { ...PIXEL, mime_type: 'a/b\r\nX: y' } })).fields).to.deep.equal([
      'tool_input.file.mime_type',
    ]);
  });

  it('compiles in strict mode, alone and as items', () => {
    const compile = (schema: object) => schemaCompiler().compile(schema);
    expect(() => compile(fileInputSchema('x'))).not.to.throw();
    expect(() => compile({ type: 'string', format: 'date' })).not.to.throw();
    expect(compile({ type: 'string', format: 'date' })('no date')).to.equal(false);
    expect(() => compile({ type: 'string', format: 'fiel' })).to.throw(/unknown format/);
  });

  it('lists the required stored files with their paths', () => {
    const input = { file: { file_id: 'a' }, files: [PIXEL, { file_id: 'b' }], other: { file_id: 'c' } };
    expect(storedFileIds(tool({ format: 'none' }), input)).to.deep.equal([
      { field: 'file.file_id', id: 'a' },
      { field: 'files[1].file_id', id: 'b' },
    ]);
  });

  it('is never sent empty if its stored file was not loaded', () => {
    const raw: ToolBody = { format: 'raw', value: { $file: 'file' } };
    expect(failureOf(() => rendered(raw, { file: { file_id: FILE_ID } })).fields).to.deep.equal([
      'tool_input.file.file_id',
    ]);
    const stored = new Map([[FILE_ID, new FileContent('kept.txt', 'text/plain', Buffer.from('kept'))]]);
    const request = rendered(raw, { file: { file_id: FILE_ID } }, stored);
    expect(String(request.body)).to.equal('kept');
    expect(request.headers['content-type']).to.equal('text/plain');
  });
});

describe('base64', () => {
  it('of either alphabet, padded or not, with line breaks, is decoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        for (const text of [buffer.toString('base64'), buffer.toString('base64url')]) {
          expect(decodeBase64(text)?.equals(buffer)).to.equal(true);
          expect(decodeBase64(text.replace(/(.{7})/g, '$1\r\n'))?.equals(buffer)).to.equal(true);
        }
      }),
    );
  });
});

describe('A raw body', () => {
  it('contains the bytes of the file with the stated type, else the type of the file, else application/octet-stream', () => {
    const value = { $file: 'file' };
    const typeOf = (body: ToolBody, file: object) => rendered(body, { file }).headers['content-type'];
    const request = rendered({ format: 'raw', value }, { file: PIXEL });
    expect((request.body as Buffer).toString('hex')).to.equal('89504e47');
    expect(typeOf({ format: 'raw', value }, PIXEL)).to.equal('image/png');
    expect(typeOf({ format: 'raw', value, media_type: 'image/*' }, PIXEL)).to.equal('image/png');
    expect(typeOf({ format: 'raw', value, media_type: 'application/zip' }, PIXEL)).to.equal('application/zip');
    expect(typeOf({ format: 'raw', value }, { content_base64: '' })).to.equal('application/octet-stream');
  });

  it('can be a text, and is absent when its input is absent', () => {
    const xml: ToolBody = { format: 'raw', value: { $input: 'xml' }, media_type: 'application/xml' };
    const request = rendered(xml, { xml: '<a>ü</a>' });
    expect([request.body, request.headers['content-type']]).to.deep.equal(['<a>ü</a>', 'application/xml']);
    expect(rendered(xml, {}).body).to.equal(undefined);
    expect(failureOf(() => rendered(xml, { xml: { a: 1 } })).code).to.equal('INVALID_TOOL_INPUT');
  });
});

describe('A JSON body', () => {
  it('has the media type that the tool states', () => {
    const patch: ToolBody = {
      format: 'json',
      value: { a: { $input: 'a' } },
      media_type: 'application/merge-patch+json',
    };
    const request = rendered(patch, { a: 1 });
    expect([request.body, request.headers['content-type']]).to.deep.equal(['{"a":1}', 'application/merge-patch+json']);
  });

  it('and a form contain a file as base64, or as text if the tool says so', () => {
    const value = {
      content: { $file: 'file' },
      text: { $base64: { $input: 'text' } },
      url: { $base64url: { $file: 'file' } },
    };
    const input = { file: PIXEL, text: 'ü?' };
    expect(rendered({ format: 'json', value }, input).body).to.equal(
      '{"content":"iVBORw==","text":"w7w/","url":"iVBORw"}',
    );
    expect(rendered({ format: 'form', value }, input).body).to.equal('content=iVBORw%3D%3D&text=w7w%2F&url=iVBORw');
  });
});

describe('A multipart body', () => {
  const value = {
    title: { $input: 'title' },
    meta: { a: { $input: 'a' } },
    file: { $file: 'file' },
    all: { $file: 'files' },
  };

  it('is parsed correctly by an independent parser', async () => {
    const input = { title: 'Ünïcode\r\n', a: 1, file: PIXEL, files: [PIXEL, { ...PIXEL, file_name: 'b "q".png' }] };
    const form = await readForm(rendered({ format: 'multipart', value }, input));
    expect(form.get('title')).to.equal('Ünïcode\r\n');
    const file = form.get('file') as File;
    expect([file.name, file.type, Buffer.from(await file.arrayBuffer()).toString('hex')]).to.deep.equal([
      'dot.png',
      'image/png',
      '89504e47',
    ]);
    expect(form.getAll('all').map((one) => (one as File).name)).to.deep.equal(['dot.png', 'b "q".png']);
    expect(form.get('meta')).to.equal('{"a":1}');
  });

  it('has type JSON for objects, and the stated type for a part', () => {
    const text = (parts: ToolBody['parts']) =>
      String(rendered({ format: 'multipart', value: { meta: { $input: 'meta' } }, parts }, { meta: ['x', 'y'] }).body);
    expect(text({ meta: { content_type: 'application/json' } })).to.contain(
      'name="meta"\r\nContent-Type: application/json\r\n\r\n["x","y"]\r\n',
    );
    expect(text({}).match(/name="meta"\r\n\r\n[xy]\r\n/g)).to.have.length(2);
    expect(text({ meta: { content_type: 'text/csv' } })).to.contain('Content-Type: text/csv\r\n\r\nx');
  });

  it('has names and file names that cannot begin another header or part (E2)', async () => {
    const file_name = 'a"\r\nX-Evil: 1\r\n\r\n--boundary\u0000.png';
    const request = rendered(
      { format: 'multipart', value: { file: { $file: 'file' } } },
      { file: { ...PIXEL, file_name } },
    );
    expect(String(request.body)).to.not.contain('\r\nX-Evil');
    expect([...(await readForm(request)).keys()]).to.deep.equal(['file']);
  });

  it('is the same for the same input, and its boundary occurs in no part', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: 'binary' })), (members) => {
        const one = encodeMultipart(members);
        expect(encodeMultipart(members)).to.deep.equal(one);
        const boundary = one.type.split('boundary=')[1] as string;
        expect(Object.values(members).some((text) => text.includes(boundary))).to.equal(false);
      }),
      { numRuns: 50 },
    );
  });

  it('is shown by name, type and size in a dry run', () => {
    const body: ToolBody = { format: 'multipart', value };
    const call = prepareCall(callOf({ tool: tool(body), toolInput: { title: 't', file: PIXEL } }), checker);
    expect(dryRun(call, tokenCredential()).body).to.deep.equal({
      title: 't',
      file: { file_name: 'dot.png', mime_type: 'image/png', size: 4 },
    });
  });
});

describe('A credential in the body', () => {
  const pattern = {
    type: 'CUSTOM' as const,
    fields: [
      {
        field_name: 'key',
        label: 'Key',
        input_type: 'password' as const,
        placement: { in: 'body' as const, name: 'key' },
      },
    ],
  };
  const placed = () => placeCredential(pattern, { kind: 'static', details: { key: new Secret('stored') } });
  const sent = (request: Tool['request'], toolInput: object = {}) =>
    renderRequest(prepareCall(callOf({ tool: writingTool({ request }), pattern, toolInput }), checker), placed());

  it('creates a body if the tool has none', () => {
    for (const body of [undefined, { format: 'none' as const }]) {
      const request = sent({ method: 'DELETE', path: '/x', ...(body && { body }) });
      expect([request.body, request.headers['content-type']]).to.deep.equal(['{"key":"stored"}', 'application/json']);
    }
    const form = sent({ method: 'POST', path: '/x', body: { format: 'form', value: {} } });
    expect(form.body).to.equal('key=stored');
    const bare = sent({ method: 'POST', path: '/x', body: { format: 'json', value: { $input: 'none' } } });
    expect(bare.body).to.equal('{"key":"stored"}');
  });

  it('is refused if there can be no object: reads and raw bodies', () => {
    expect(failureOf(() => sent({ method: 'GET', path: '/x' })).code).to.equal('INVALID_TOOL_INPUT');
    const raw = { format: 'raw' as const, value: { $input: 'text' } };
    expect(failureOf(() => sent({ method: 'PUT', path: '/x', body: raw }, { text: 'x' })).code).to.equal(
      'INVALID_TOOL_INPUT',
    );
  });

  it('becomes a part of a multipart body', async () => {
    const request = sent({ method: 'POST', path: '/x', body: { format: 'multipart', value: { a: 'b' } } });
    expect([...(await readForm(request)).entries()]).to.deep.equal([
      ['a', 'b'],
      ['key', 'stored'],
    ]);
  });
});
