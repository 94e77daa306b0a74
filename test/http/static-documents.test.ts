import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { request } from 'undici';
import { createStaticDocument } from '../../http/responses/static-document.ts';
import { buildReference } from '../../scripts/build-reference.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONTRACT = readFileSync(join(ROOT, 'generated/openapi.json'));

describe('F5: static documents', () => {
  let server: TestServer;

  before(async () => {
    buildReference();
    server = await startTestServer();
  });
  after(() => server.stop());

  async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
    const { statusCode, headers: given, body } = await request(server.origin + path, { method, headers });
    return { status: statusCode, headers: given, bytes: Buffer.from(await body.arrayBuffer()) };
  }

  for (const [path, type] of [
    ['/openapi.json', 'application/json'],
    ['/openapi.yaml', 'application/yaml'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/errors', 'text/html; charset=utf-8'],
    ['/docs/assets/reference.css', 'text/css; charset=utf-8'],
    ['/docs/assets/reference.js', 'text/javascript; charset=utf-8'],
    ['/docs/viewer/style.css', 'text/css; charset=utf-8'],
    ['/docs/viewer/standalone.esm.js', 'text/javascript; charset=utf-8'],
    ['/docs/guides', 'text/html; charset=utf-8'],
    ['/docs/guides/mcp', 'text/html; charset=utf-8'],
    ['/docs/guides/mcp.md', 'text/markdown; charset=utf-8'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
    ['/favicon.ico', 'image/x-icon'],
    ['/favicon.svg', 'image/svg+xml'],
  ] as const) {
    it(`are equal in every content coding, and not sent again: ${path}`, async () => {
      const plain = await get(path);
      expect(plain.status).to.equal(200);
      expect(plain.headers).to.include({ 'content-type': type, vary: 'accept-encoding' });
      expect(plain.headers).not.to.have.any.keys('content-encoding', 'x-powered-by');
      expect(plain.headers['content-security-policy']).to.contain("default-src 'none'");
      const [gzip, brotli] = [
        await get(path, { 'accept-encoding': 'gzip' }),
        await get(path, { 'accept-encoding': 'gzip, br' }),
      ];
      expect([gzip, brotli].map(({ headers }) => headers['content-encoding'])).to.deep.equal(['gzip', 'br']);
      expect(gunzipSync(gzip.bytes).equals(plain.bytes)).to.equal(true);
      expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).to.equal(true);
      for (const { headers, bytes } of [plain, gzip, brotli]) {
        expect(headers['content-length']).to.equal(String(bytes.length));
        const accept = { 'accept-encoding': String(headers['content-encoding'] ?? 'identity') };
        const again = await get(path, { ...accept, 'if-none-match': `"other", W/${headers['etag']}` });
        expect([again.status, again.bytes.length, again.headers['etag']]).to.deep.equal([304, 0, headers['etag']]);
      }
      expect(new Set([plain, gzip, brotli].map(({ headers }) => headers['etag'])).size).to.equal(3);
    });
  }

  it('are equal to what was generated', async () => {
    expect((await get('/openapi.json')).bytes.equals(CONTRACT)).to.equal(true);
  });

  it('are sent to clients that have another version', async () => {
    const { status, bytes } = await get('/openapi.json', { 'if-none-match': '"other"' });
    expect([status, bytes.length]).to.deep.equal([200, CONTRACT.length]);
  });

  it('have no body for HEAD', async () => {
    const { status, headers, bytes } = await get('/openapi.json', {}, 'HEAD');
    expect([status, headers['content-length'], bytes.length]).to.deep.equal([200, String(CONTRACT.length), 0]);
  });

  for (const [accepted, coding] of [
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.0, gzip;q=0', undefined],
    ['identity', undefined],
    ['zstd, GZIP;q=0.5', 'gzip'],
    ['*', undefined],
    ['br;q=nonsense', undefined],
    ['br;q=1.000, gzip', 'br'],
    ['br;q=.5', 'br'],
    ['br;q=0.000, gzip;q=0.001', 'gzip'],
    ['br;q=0.1111', undefined],
  ] as const) {
    it(`have a content coding that the client accepts: ${accepted}`, async () => {
      const { headers } = await get('/openapi.json', { 'accept-encoding': accepted });
      expect(headers['content-encoding']).to.equal(coding);
    });
  }

  it('S3: parse a long weight of a coding in linear time', async () => {
    const serve = createStaticDocument('a document', { type: 'text/plain' });
    const req = { method: 'GET', headers: { 'accept-encoding': `br;q=0.${'1'.repeat(15_000)}x` } };
    // Parsing these headers in quadratic time would take minutes.
    for (let times = 0; times < 4_000; times++) {
      let head: Record<string, unknown> = {};
      const res = { writeHead: (_status: number, headers: typeof head) => (head = headers), end: () => {} };
      await serve(req as never, res as never);
      expect(head).to.include({ 'content-length': 10 }).and.not.to.have.property('content-encoding');
    }
  });
});
