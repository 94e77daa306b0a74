import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { request } from 'undici';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const BUILD = join(import.meta.dirname, '../../build/console');
/** KB of compressed script and style for the first page: the limit that the console is built for. */
const FIRST_PAGE_KB = 300;

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  css?: string[];
}

const manifest = () => JSON.parse(readFileSync(join(BUILD, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

/** Returns the files that a chunk needs before it runs. */
function filesOf(chunks: Record<string, Chunk>, name: string, known = new Set<string>()): Set<string> {
  const chunk = chunks[name] as Chunk;
  if (known.has(chunk.file)) return known;
  known.add(chunk.file);
  for (const file of chunk.css ?? []) known.add(file);
  for (const other of chunk.imports ?? []) filesOf(chunks, other, known);
  return known;
}

describe('the files of the console', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  async function get(path: string, headers: Record<string, string> = {}) {
    const { statusCode, headers: given, body } = await request(server.origin + path, { headers });
    return { status: statusCode, headers: given, bytes: Buffer.from(await body.arrayBuffer()) };
  }

  it(`are less than ${FIRST_PAGE_KB} KB for the first page, compressed`, () => {
    const chunks = manifest();
    const entry = Object.keys(chunks).find((name) => chunks[name]?.isEntry) as string;
    const files = new Set([...filesOf(chunks, entry), ...filesOf(chunks, 'src/pages/home.tsx')]);
    const bytes = [...files].reduce((sum, file) => sum + readFileSync(join(BUILD, `${file}.gz`)).length, 0);
    expect(bytes / 1000).to.be.below(FIRST_PAGE_KB);
    // Shows that the files were counted at all.
    expect(bytes / 1000).to.be.above(50);
  });

  it('are equal in every content coding, immutable at their address, and not sent again', async () => {
    for (const { file } of Object.values(manifest())) {
      const path = `/console/${file}`;
      const plain = await get(path);
      expect(plain.status, path).to.equal(200);
      expect(plain.headers['cache-control']).to.equal('max-age=31536000, immutable');
      const [gzip, br] = [
        await get(path, { 'accept-encoding': 'gzip' }),
        await get(path, { 'accept-encoding': 'gzip, br' }),
      ];
      expect(gunzipSync(gzip.bytes).equals(plain.bytes), path).to.equal(true);
      expect(brotliDecompressSync(br.bytes).equals(plain.bytes), path).to.equal(true);
      expect((await get(path, { 'if-none-match': String(plain.headers['etag']) })).status).to.equal(304);
    }
  });

  for (const path of ['/console', '/console/', '/console/accounts/ca_x', '/console?x=1', '/console/login']) {
    it(`are one page at ${path}, with a policy that allows no other host and no inline script`, async () => {
      const page = await get(path);
      expect(page.status).to.equal(200);
      expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(page.headers['cache-control']).to.equal('no-cache');
      expect(page.headers['content-security-policy']).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(page.headers).to.include({ 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' });
      expect(page.bytes.toString()).not.to.match(/https?:|<script(?![^>]* src=)/);
    });
  }

  for (const path of [
    '/console/assets/none.js',
    '/console/assets/../../../package.json',
    '/console/assets/',
    '/consoles',
  ]) {
    it(`do not include ${path}`, async () => {
      expect((await get(path)).status).to.equal(404);
    });
  }

  it('are served for GET and HEAD only', async () => {
    const { statusCode, headers } = await request(`${server.origin}/console`, { method: 'POST' });
    expect([statusCode, headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
  });
});
