import { expect } from 'chai';
import { type ByteAllowance, ByteBudget } from '../../core/budgets/byte-budget.ts';
import { BODIES, REQUEST_BODY, STORED } from '../../core/budgets.ts';
import { FileContent } from '../../core/tools/file-content.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { openRaw, type RawConnection } from '../support/raw-http.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { withUploadTools } from '../support/upload-tools.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const KB = 1024;
const TOTAL = 3 * 1024 * KB;

describe('M3: the memory of bodies', () => {
  let acme: Upstream;
  let server: TestServer;
  let bodies: ByteBudget;
  let own: ByteAllowance;
  let id: string;

  before(async () => {
    acme = await startUpstream();
    bodies = new ByteBudget({ totalBytes: TOTAL, waitMs: 1, waiting: 10 });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { bodies, toolDirectory: withUploadTools },
    });
    own = bodies.of((await server.parts.environmentOf('localhost')).id);
    ({ id } = await createKeyedAccount(server));
  });
  beforeEach(() => {
    acme.requests.length = 0;
    acme.handler = (_request, res) => json(res, 200, { ok: true });
  });
  afterEach(async () => {
    while (bodies.used > 0) await new Promise((resolve) => setImmediate(resolve));
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  /**
   * Occupies memory of the environment's budget while a function runs. With `first`, the first bytes of another body
   * find no space, even after a wait. With `more`, a body finds no space for further bytes.
   */
  async function holding<T>(share: 'first' | 'more', run: () => Promise<T>): Promise<T> {
    const hold = own.hold();
    if (share === 'first') while (await hold.reserve(BODIES.firstBytes));
    else while (hold.grow(BODIES.firstBytes));
    try {
      return await run();
    } finally {
      hold.release();
    }
  }

  /** Stores a file that the account may send. @returns its id */
  async function stored(bytes: number): Promise<string> {
    const environmentId = (await server.parts.environmentOf('localhost')).id;
    const account = await server.parts.store.read.accounts.get(environmentId, id);
    if (!account) throw new Error('The account does not exist.');
    const file = new FileContent('report.pdf', 'application/pdf', Buffer.alloc(bytes));
    return (await server.parts.files.keep(environmentId, account, file))?.file_id ?? '';
  }

  const upload = (file_id: string, count: number) =>
    execute(server, id, 'http_upload_many', { files: Array(count).fill({ file_id }) });

  it('is released after every kind of call', async () => {
    acme.handler = (_request, res) => json(res, 200, { text: 'x'.repeat(300 * KB) });
    expect((await execute(server, id, 'http_get', { path: '/' })).status).to.equal(200);
    const raw = await server.call('POST', '/api/v1/proxy/x', {
      headers: { 'valetkey-account-id': id },
      body: Buffer.alloc(100 * KB, 'a'),
    });
    expect(raw.status).to.equal(200);
    expect(
      (await execute(server, id, 'http_post', { path: '/', body: { text: 'x'.repeat(50 * KB) } })).status,
    ).to.equal(200);
  });

  it('is exhausted: rejects a tool call with 503 and Retry-After before anything is sent', async () => {
    const answer = await holding('first', () => execute(server, id, 'http_post', { path: '/', body: {} }));
    expect(answer.status, answer.text).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('1');
    expect(answer.body).to.include({ code: 'SERVER_BUSY' });
    expect(answer.body.tool_error).to.include({ kind: 'service_busy', retryable: true, retry_after_ms: 1_000 });
    expect(acme.requests).to.have.length(0);
    const record = await finishedExecution(server, answer.body.execution_id);
    expect(record).to.include({ status: 'FAILED', error_kind: 'service_busy' });
  });

  it('is exhausted: releases the idempotency key of such a call, so that the same call can be sent again', async () => {
    const headers = { 'idempotency-key': 'busy-1' };
    const call = () => execute(server, id, 'http_post', { path: '/', body: {} }, { headers });
    expect((await holding('first', call)).status).to.equal(503);
    const again = await call();
    expect([again.status, again.headers['idempotency-replayed']]).to.deep.equal([200, undefined]);
    expect((await call()).headers['idempotency-replayed']).to.equal('true');
    expect(acme.requests).to.have.length(1);
  });

  it('is exhausted: keeps the key of a call whose response found no space after it was sent', async () => {
    acme.handler = (_request, res) => json(res, 200, { text: 'x'.repeat(4 * BODIES.firstBytes) });
    const headers = { 'idempotency-key': 'busy-2' };
    const call = () => execute(server, id, 'http_post', { path: '/', body: {} }, { headers });
    const first = await holding('more', call);
    expect([first.status, first.body.tool_error.retryable]).to.deep.equal([503, false]);
    const again = await call();
    expect([again.status, again.headers['idempotency-replayed']]).to.deep.equal([503, 'true']);
    expect(acme.requests).to.have.length(1);
  });

  it('is exhausted: rejects a large request body, and accepts a small one', async () => {
    const large = { path: '/', body: { text: 'x'.repeat(100 * KB) } };
    const answers = await holding('more', async () => [
      await execute(server, id, 'http_post', large),
      await server.call('POST', '/api/v1/proxy/x', {
        headers: { 'valetkey-account-id': id },
        body: Buffer.alloc(100 * KB),
      }),
      await execute(server, id, 'http_get', { path: '/' }),
    ]);
    expect(answers.map(({ status, body }) => body.code ?? status)).to.deep.equal(['SERVER_BUSY', 'SERVER_BUSY', 200]);
    expect(answers[0]?.headers['retry-after']).to.equal('1');
    expect(acme.requests).to.have.length(1);
  });

  it('is reserved for the stored files of a call before they are opened, once for each time they are named', async () => {
    const small = await stored(200 * KB);
    expect((await upload(small, 2)).status).to.equal(200);
    expect(acme.requests.at(-1)?.body.length).to.be.above(2 * 200 * KB);
    const requests = acme.requests.length;
    const many = await upload(small, 14);
    expect([many.status, many.body.code]).to.deep.equal([503, 'SERVER_BUSY']);
    const tooMany = await upload(await stored(STORED.callFilesBytes / 16), 17);
    expect(tooMany.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
    expect(tooMany.body.errors[0].field).to.match(/^tool_input\.files\[\d+\]\.file_id$/);
    expect(acme.requests).to.have.length(requests);
  });

  it('has space for another environment when one has used its share', async () => {
    const other = await addSecondEnvironment(server);
    const foreign = await createKeyedAccount(other);
    const text = 'x'.repeat(100 * KB);
    const answer = await holding('first', () => execute(other, foreign.id, 'http_post', { path: '/', body: { text } }));
    expect(answer.status, answer.text).to.equal(200);
  });

  it('limits the total of many slow imports', async () => {
    const imports: RawConnection[] = [];
    for (let count = 0; count < 20; count++) {
      const raw = await openRaw(server.origin);
      imports.push(raw);
      raw.send(
        `POST /api/v1/tools:import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token('tools:write')}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${REQUEST_BODY.importBytes}\r\n\r\n{"document":"`,
      );
      raw.send(Buffer.alloc(300 * KB, 'x'));
    }
    const refused = () => imports.filter((raw) => raw.received().includes('SERVER_BUSY'));
    while (refused().length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(refused()[0]?.received()).to.match(/^HTTP\/1\.1 503 /);
    expect(own.used).to.be.within(TOTAL / 4, TOTAL / 2);
    expect((await execute(server, id, 'http_get', { path: '/' })).status).to.equal(200);
    for (const raw of imports) raw.destroy();
  });

  it('is not used up by page forms without a token', async () => {
    const forms: RawConnection[] = [];
    const form = 'Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n';
    for (let count = 0; count < 10; count++) {
      const raw = await openRaw(server.origin);
      forms.push(raw);
      raw.send(`POST /oauth/token HTTP/1.1\r\nHost: localhost\r\n${form}`);
      raw.send(`${(15 * KB).toString(16)}\r\n${'x'.repeat(15 * KB)}\r\n`);
    }
    expect(own.used).to.equal(0);
    for (const raw of forms) raw.destroy();
  });

  it('is not filled by a body in many small pieces', async () => {
    const raw = await openRaw(server.origin);
    raw.send(
      `POST /api/v1/tools:import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token('tools:write')}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    raw.send('1\r\nx\r\n'.repeat(REQUEST_BODY.chunks + 1));
    expect(await raw.until('too many chunks')).to.match(/^HTTP\/1\.1 400 /);
    raw.destroy();
  });
});
