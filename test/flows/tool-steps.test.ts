import { tracingChannel } from 'node:diagnostics_channel';
import { expect } from 'chai';
import { SPANS, type SpanFacts } from '../../core/spans.ts';
import { fileInputSchema } from '../../core/tools/file-input.ts';
import type { Tool, ToolStep } from '../../core/tools/tool.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const STORAGE = 'https://eu.storage.acme.example';
const CONTENT = 'The quarterly report';

describe('a tool with several requests', () => {
  let server: TestServer;
  let api: Upstream;
  let storage: Upstream;
  let connector: string;
  let accountId: string;
  let connectionId: string;
  let made = 0;
  /** The address of the storage that the API returns. */
  let address: unknown;

  const store: ToolStep = {
    take: { upload_url: '/upload/url', upload_id: '/id' },
    method: 'PUT',
    address: 'upload_url',
    hosts: ['storage.acme.example'],
    body: { format: 'raw', value: { $file: 'file' } },
  };
  const complete: ToolStep = {
    take: { etag: 'etag' },
    method: 'POST',
    path: '/uploads/{upload_id}/complete',
    body: { format: 'json', value: { etag: { $input: 'etag' } } },
  };

  before(async () => {
    api = await startUpstream();
    storage = await startUpstream();
    server = await startTestServer({
      env: {
        VALETKEY_ENDPOINT_OVERRIDES: [api.endpointOverride(KEYED_ORIGIN), storage.endpointOverride(STORAGE)].join(),
      },
    });
    const { id, account, provider } = await createKeyedAccount(server);
    accountId = id;
    connectionId = account['connection_id'] as string;
    connector = provider.identifier;
  });
  beforeEach(() => {
    address = `${STORAGE}/put?signature=s-1`;
    api.requests.length = 0;
    storage.requests.length = 0;
    api.handler = ({ target }, res) =>
      target.endsWith('/complete')
        ? json(res, 200, { stored: true })
        : json(res, 200, { id: 7, upload: { url: address } });
    storage.handler = (_request, res) => res.writeHead(200, { etag: '"e-1"' }).end();
  });
  after(async () => {
    await server.stop();
    await api.stop();
    await storage.stop();
  });

  const jsonBody: ToolStep['body'] = { format: 'json', value: { done: true } };

  async function upload(steps: ToolStep[], over: Partial<Tool> = {}) {
    made += 1;
    const name = `acme_upload_file_${made}`;
    const tool = ownTool(connector, name, {
      input_schema: {
        type: 'object',
        additionalProperties: false,
        required: ['file'],
        properties: { file: fileInputSchema('The file.') },
      },
      hints: { read_only: false, destructive: false, idempotent: false, open_world: true },
      request: {
        method: 'POST',
        path: '/uploads',
        body: {
          format: 'json',
          value: {
            name: { $file_info: { input: 'file', member: 'file_name' } },
            size: { $file_info: { input: 'file', member: 'size' } },
          },
        },
        steps,
      },
      ...over,
    });
    await storeTools(server, [tool]);
    const file = {
      file_name: 'report.txt',
      mime_type: 'text/plain',
      content_base64: Buffer.from(CONTENT).toString('base64'),
    };
    const body = { tool_name: name, tool_input: over.input_schema ? {} : { file }, connected_account_id: accountId };
    return await server.call('POST', '/api/v1/execute_tool', { body });
  }
  const sent = ({ requests }: Upstream) => requests.map(({ method, target }) => `${method} ${target}`);

  it('tells its trace only to the provider, even if the connection sends it', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const spans = tracingChannel(SPANS);
    const record = (facts: unknown) => void Object.assign(facts as SpanFacts, { traceparent });
    const set = (send_trace_context: boolean) =>
      server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { send_trace_context } });
    const told = ({ requests }: Upstream) => requests.map(({ headers }) => headers['traceparent']);
    spans.start.subscribe(record);
    try {
      await upload([store, complete]);
      expect(told(api)).to.deep.equal([undefined, undefined]);
      expect((await set(true)).status).to.equal(200);
      await upload([store, complete]);
      expect(told(api).slice(2)).to.deep.equal([traceparent, traceparent]);
      expect(told(storage)).to.deep.equal([undefined, undefined]);
    } finally {
      spans.start.unsubscribe(record);
      await set(false);
    }
  });

  it('announces a file, sends its bytes to the address in the response, and completes the upload', async () => {
    const { status, body } = await upload([store, complete]);
    expect(status).to.equal(200);
    expect(body.data).to.deep.equal({ stored: true });
    expect(sent(api)).to.deep.equal(['POST /uploads', 'POST /uploads/7/complete']);
    expect(JSON.parse(api.requests[0]?.body ?? '')).to.deep.equal({ name: 'report.txt', size: CONTENT.length });
    expect(JSON.parse(api.requests[1]?.body ?? '')).to.deep.equal({ etag: '"e-1"' });
    for (const { headers } of api.requests) expect(headers['x-api-key']).to.equal(ACCOUNT_KEY);
    expect(sent(storage)).to.deep.equal(['PUT /put?signature=s-1']);
    expect(storage.requests[0]?.body).to.equal(CONTENT);
    expect(storage.requests[0]?.headers['content-type']).to.equal('text/plain');
  });

  it('sends no credential to the address in the response', async () => {
    await upload([store]);
    expect(storage.requests).to.have.length(1);
    expect(JSON.stringify(storage.requests)).to.not.include(ACCOUNT_KEY);
    expect(storage.requests[0]?.headers).to.not.have.any.keys('authorization', 'cookie', 'x-api-key');
  });

  it('sends nothing to an address outside of the hosts that the tool names', async () => {
    const others = [
      'https://storage.acme.example.evil.test/put',
      'https://evilstorage.acme.example/put',
      'http://eu.storage.acme.example/put',
      'https://eu.storage.acme.example:8443/put',
      'https://user:secret@eu.storage.acme.example/put',
      '//eu.storage.acme.example/put',
      `https://eu.storage.acme.example/${'a'.repeat(9000)}`,
    ];
    for (const other of others) {
      address = other;
      const { status, body } = await upload([store, complete]);
      expect(status, other).to.equal(502);
      expect(body.tool_error).to.include({ kind: 'upstream_invalid_response', retryable: false });
      expect(body.tool_error.message).to.equal(
        'The response of the provider names an address outside of storage.acme.example.',
      );
    }
    expect(storage.requests).to.deep.equal([]);
    expect(new Set(sent(api))).to.deep.equal(new Set(['POST /uploads']));
  });

  it('stops if a response lacks a value that the next request needs', async () => {
    for (const missing of [undefined, null, '', { nested: true }, 1.5]) {
      address = missing;
      const { status, body } = await upload([store, complete]);
      expect(status).to.equal(502);
      expect(body.tool_error.message).to.equal(
        'The response of the provider has no /upload/url, which the next request needs.',
      );
    }
    expect(storage.requests).to.deep.equal([]);
  });

  it('names the provider, not the caller, if the next request cannot contain a value of the response', async () => {
    const messages: [string, string][] = [
      ['..', 'must not be "." or "..", also not encoded: it is part of the path'],
      ['.', 'must not be "." or "..", also not encoded: it is part of the path'],
      ['%2e%2e', 'must not be "." or "..", also not encoded: it is part of the path'],
      ['a\\b', 'must not contain a backslash or an encoded slash'],
      ['a\nb', 'must not contain control characters'],
      ['\ud800', 'must be well-formed Unicode'],
    ];
    const { take: _take, ...request } = complete;
    for (const [id, problem] of messages) {
      api.requests.length = 0;
      api.handler = (_request, res) => json(res, 200, { id });
      const { status, body } = await upload([{ ...request, take: { upload_id: '/id' }, body: jsonBody }]);
      expect(status, id).to.equal(502);
      expect(body.tool_error, id).to.include({
        kind: 'upstream_invalid_response',
        retryable: false,
        upstream_status: 200,
        message: `The next request cannot contain a value of the provider's response: upload_id ${problem}.`,
      });
      expect(sent(api), id).to.deep.equal(['POST /uploads']);
    }
  });

  it('names the provider if a value of the response cannot be in a header or makes the address too long', async () => {
    const { take: _take, ...request } = complete;
    const others: [ToolStep, string][] = [
      [
        {
          ...request,
          take: { upload_id: '/id', tag: '/tag' },
          headers: { 'x-tag': { $input: 'tag' } },
          body: jsonBody,
        },
        'tag must have only visible ASCII characters: it is sent as a header',
      ],
      [
        {
          ...request,
          take: { upload_id: '/long', more: '/long' },
          path: '/{upload_id}/{more}/{upload_id}',
          body: jsonBody,
        },
        'it produces a URL of more than 8000 characters',
      ],
      [
        { ...store, headers: { 'x-tag': { $input: 'tag' } }, take: { ...store.take, tag: '/tag' } },
        'tag must have only visible ASCII characters: it is sent as a header',
      ],
    ];
    for (const [step, problem] of others) {
      api.handler = (_request, res) =>
        json(res, 200, { id: 7, tag: 'a\r\nx-evil: 1', long: 'x'.repeat(7_000), upload: { url: address } });
      const { body } = await upload([step]);
      expect(body.tool_error).to.include({ kind: 'upstream_invalid_response', retryable: false });
      expect(body.tool_error.message).to.equal(
        `The next request cannot contain a value of the provider's response: ${problem}.`,
      );
    }
    expect(new Set(sent(api))).to.deep.equal(new Set(['POST /uploads']));
    expect(storage.requests).to.deep.equal([]);
  });

  it('names the input of the caller if that is what the next request cannot contain', async () => {
    const { take: _take, ...request } = complete;
    const step: ToolStep = {
      ...request,
      take: { upload_id: '/id' },
      body: jsonBody,
      headers: { 'x-name': { $file: 'file' } },
    };
    const { status, body } = await upload([step]);
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal([{ field: 'tool_input.file', message: 'must be a string, number or boolean' }]);
  });

  it('stops at the first request that fails', async () => {
    storage.handler = (_request, res) => json(res, 403, { message: 'The signature has expired.' });
    const { body } = await upload([store, complete]);
    expect(body.tool_error).to.include({ upstream_status: 403, retryable: false });
    expect(sent(api)).to.deep.equal(['POST /uploads']);
    // A rejected signature says nothing about the credential of the account.
    const { id } = await firstEnvironment(server);
    expect((await server.parts.store.read.accounts.get(id, accountId))?.status).to.equal('ACTIVE');
  });

  describe('for a download at another host', () => {
    const steps: ToolStep[] = [
      { take: { log_url: 'location' }, method: 'GET', address: 'log_url', hosts: ['storage.acme.example'] },
    ];
    const download = () =>
      upload(steps, {
        input_schema: { type: 'object', additionalProperties: false, properties: {} },
        hints: { read_only: true, destructive: false, idempotent: true, open_world: true },
        request: { method: 'GET', path: '/logs', steps },
      });

    it('follows the redirect', async () => {
      api.handler = (_request, res) => res.writeHead(302, { location: `${STORAGE}/log?sig=1` }).end();
      storage.handler = (_request, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end('step 1\nstep 2\n');
      const { body } = await download();
      expect(body.data).to.equal('step 1\nstep 2\n');
      expect(sent(storage)).to.deep.equal(['GET /log?sig=1']);
    });
  });
});
