import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { LIFETIME, STORED } from '../../core/budgets.ts';
import { openKeySource } from '../../core/keys/key-source.ts';
import { createRotationStore } from '../../core/keys/rotation-store.ts';
import { createAndAddKey } from '../../core/vault/key-lifecycle.ts';
import { rewrapAll } from '../../core/vault/rotate.ts';
import { Vault } from '../../core/vault/vault.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { withUploadTools } from '../support/upload-tools.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

/** Limits that are high enough for everything that the test removes. */
const PIECE = { rows: 100, bytes: Number.MAX_SAFE_INTEGER };
const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff, 0xfe]);

describe('files of tools', () => {
  let acme: Upstream;
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    clock = testClock();
    acme = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { now: clock.now, toolDirectory: withUploadTools },
    });
  });
  beforeEach(() => {
    acme.requests.length = 0;
    acme.handler = (_request, res) =>
      res
        .writeHead(200, { 'content-type': 'application/pdf', 'content-disposition': 'attachment; filename="ré.pdf"' })
        .end(PDF);
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  async function answeredFile() {
    const { id } = await createKeyedAccount(server);
    const answer = await execute(server, id, 'http_get', { path: '/report' });
    expect(answer.status, answer.text).to.equal(200);
    return { id, file: answer.body.data };
  }

  async function fetchFile(url: string): Promise<Response> {
    return fetch(`${server.origin}${new URL(url).pathname}`);
  }

  it('are stored encrypted, with their names', async () => {
    const { file } = await answeredFile();
    const row = await server.parts.store.read.storedContents.get(
      (await server.parts.environmentOf(new URL(server.origin).host)).id,
      'file',
      file.file_id,
      clock.now(),
    );
    const text = JSON.stringify(row, (_key, value) => (Buffer.isBuffer(value) ? value.toString('latin1') : value));
    expect(text).not.to.match(/%PDF|\.pdf/);
  });

  it('are sent by their id, byte by byte', async () => {
    const { id, file } = await answeredFile();
    acme.handler = (_request, res) => json(res, 200, { ok: true });
    const answer = await execute(server, id, 'http_upload', { file: { file_id: file.file_id } });
    expect(answer.status, answer.text).to.equal(200);
    const [, sent] = acme.requests;
    expect(sent?.headers).to.include({ 'content-type': 'application/pdf', 'content-length': String(PDF.length) });
    const dry = await execute(
      server,
      id,
      'http_upload',
      { file: { file_id: file.file_id } },
      { body: { dry_run: true } },
    );
    expect(dry.body.dry_run_request.body).to.include({ mime_type: 'application/pdf', size: PDF.length });
  });

  it('belong to the owner of the account: others get the same response as for an unknown file', async () => {
    const { file } = await answeredFile();
    const other = await createKeyedAccount(server);
    acme.requests.length = 0;
    const unknown = `file_${'0'.repeat(26)}`;
    const errors = [];
    for (const file_id of [file.file_id, unknown]) {
      const answer = await execute(server, other.id, 'http_upload', { file: { file_id } });
      expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
      errors.push(answer.body.errors);
    }
    expect(errors[0]).to.deep.equal(errors[1]);
    expect(errors[0][0].field).to.equal('tool_input.file.file_id');
    expect(acme.requests).to.deep.equal([]);
  });

  it('are deleted when they expire', async () => {
    await answeredFile();
    const { store } = server.parts;
    const [environment] = await store.read.environments.list();
    const env = environment?.id as NonNullable<typeof environment>['id'];
    expect(await store.read.storedContents.total(env, 'file')).to.be.greaterThan(0);
    clock.advance(LIFETIME.fileMs);
    await store.write((tx) => tx.storedContents.sweep(env, clock.now(), PIECE));
    expect(await store.read.storedContents.total(env, 'file')).to.equal(0);
  });

  it('that exceed the storage of an environment are reported instead', async () => {
    const { store } = server.parts;
    const [environment] = await store.read.environments.list();
    const env = environment?.id as NonNullable<typeof environment>['id'];
    const { id, file } = await answeredFile();
    const row = await store.read.storedContents.get(env, 'file', file.file_id, clock.now());
    const { environmentId: _environmentId, ...content } = row as NonNullable<typeof row>;
    await store.write((tx) => tx.storedContents.insert(env, { ...content, id: 'file_large', size: STORED.filesBytes }));
    const answer = await execute(server, id, 'http_get', { path: '/report' });
    expect(answer.body.data).to.have.all.keys('file_name', 'mime_type', 'size');
    expect(answer.body.truncation.statement).to.contain('was not stored');
    await store.write((tx) => tx.storedContents.sweep(env, clock.now() + LIFETIME.fileMs, PIECE));
  });

  it('can be decrypted after a rotation of keys, and none uses the old key', async () => {
    const { file } = await answeredFile();
    const { store, config, now } = server.parts;
    const rotation = createRotationStore(store);
    await createAndAddKey(config.keysFile, rotation, randomBytes, now());
    const { source } = openKeySource(
      { keys: null, keysFile: config.keysFile, mayCreate: false },
      { now, random: randomBytes },
    );
    const result = await rewrapAll(new Vault(source, randomBytes), source, rotation);
    expect(result).to.deep.include({ failed: [], remaining: 0 });
    clock.advance(60_000);
    expect((await fetchFile(file.url)).status).to.equal(200);
  });
});
