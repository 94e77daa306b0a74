import { expect } from 'chai';
import { LIFETIME } from '../../core/budgets.ts';
import { altered } from '../support/altered.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff, 0xfe]);

describe('downloadFile', () => {
  let acme: Upstream;
  let server: TestServer;
  let clock: TestClock;
  let accountId: string;

  before(async () => {
    clock = testClock();
    acme = await startUpstream((_request, res) =>
      res
        .writeHead(200, { 'content-type': 'application/pdf', 'content-disposition': 'attachment; filename="ré.pdf"' })
        .end(PDF),
    );
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { now: clock.now },
    });
    accountId = (await createKeyedAccount(server)).id;
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  /** Runs a tool that returns a file. @returns the file as the result describes it */
  async function storedFile(id = accountId) {
    const result = await execute(server, id, 'http_get', { path: '/report' });
    expect(result.status, result.text).to.equal(200);
    return result.body.data;
  }
  const pathOf = ({ url }: { url: string }) => new URL(url).pathname;
  const download = (path: string) => fetch(server.origin + path);

  describe('200', () => {
    it('returns the bytes as an attachment, without a token', async () => {
      const file = await storedFile();
      expect(file).to.deep.include({ mime_type: 'application/pdf', size: PDF.length });
      expect(file.file_id).to.match(/^file_[0-9a-z]{26}$/);
      expect(Date.parse(file.expires_at)).to.equal(clock.now() + LIFETIME.fileMs);
      const response = await download(pathOf(file));
      expect(response.status).to.equal(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(PDF)).to.equal(true);
      const headers = Object.fromEntries(response.headers);
      expect(headers).to.include({
        'content-type': 'application/pdf',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers['content-disposition']).to.match(/^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''/);
      expect(headers['content-security-policy']).to.equal("default-src 'none'; sandbox; frame-ancestors 'none'");
    });
  });

  describe('404', () => {
    it('is returned for a changed address', async () => {
      const path = pathOf(await storedFile());
      expect((await download(altered(path))).status).to.equal(404);
      expect((await download(path)).status).to.equal(200);
    });

    it('is returned in another environment', async () => {
      const path = pathOf(await storedFile());
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', path, { token: null })).status).to.equal(404);
      expect((await download(path)).status).to.equal(200);
    });

    it('is returned after the account was deleted', async () => {
      const { id } = await createKeyedAccount(server);
      const path = pathOf(await storedFile(id));
      expect((await download(path)).status).to.equal(200);
      const deleted = await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
      expect(deleted.status, deleted.text).to.equal(200);
      expect((await download(path)).status).to.equal(404);
    });

    it('is returned after the file has expired', async () => {
      const path = pathOf(await storedFile());
      clock.advance(LIFETIME.fileMs - 1);
      expect((await download(path)).status).to.equal(200);
      clock.advance(1);
      expect((await download(path)).status).to.equal(404);
    });
  });
});
