import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createConnector } from '../support/all-types.ts';
import { auditOf } from '../support/audit.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { dumpDatabase, tamper } from '../support/database-file.ts';
import { claimKey } from '../support/idempotency.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { isOnServer } from '../support/test-engine.ts';
import { accessToken, firstEnvironment } from '../support/tokens.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const DAY = 24 * 60 * 60 * 1000;

describe('idempotency keys of account operations (C13)', () => {
  let server: TestServer;
  let clock: TestClock;
  let connector: string;
  let made = 0;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { ...NO_BACKGROUND, now: clock.now } });
    connector = await createConnector(server, [{ type: 'API_KEY' }]);
  });
  after(() => server.stop());

  const post = (path: string, key: string | undefined, body: unknown, token?: string): Promise<TestResponse> =>
    server.call('POST', path, {
      body,
      ...(key && { headers: { 'idempotency-key': key } }),
      ...(token && { token }),
    });
  const create = (key: string | undefined, body: unknown, token?: string) => post(ACCOUNTS, key, body, token);

  function account(changes: Record<string, unknown> = {}) {
    made += 1;
    const connected_account = { authorization_details: { static_auth: { details: { api_key: `secret-${made}` } } } };
    return { connector, identifier: `i-${made}`, user_id: 'u', connected_account, ...changes };
  }

  describe('a repetition', () => {
    it('gets the first response again, byte for byte, with a marker, and has no further effect', async () => {
      const body = account();
      const writer = server.token('accounts:write');
      const first = await create('again', body, writer);
      expect(first.status).to.equal(201);
      expect(first.headers).not.to.have.property('idempotency-replayed');
      const before = dumpDatabase(server);
      for (let round = 0; round < 3; round++) {
        const again = await create('again', body, writer);
        expect([again.status, again.text]).to.deep.equal([201, first.text]);
        expect(again.headers).to.include({ 'idempotency-replayed': 'true', 'cache-control': 'no-store' });
        expect(again.headers['x-request-id']).not.to.equal(first.headers['x-request-id']);
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
      expect(await auditOf(server, first.body.connected_account.id)).to.have.lengthOf(1);
    });

    it('M5: returns credentials to a token that may read them, and records that each time', async () => {
      const body = account();
      const first = await create('shown', body);
      const { id } = first.body.connected_account;
      const actions = async () => (await auditOf(server, id)).map(({ action }) => action).toSorted();
      expect(await actions()).to.deep.equal(['connected_account.created']);
      for (const count of [1, 2]) {
        const again = await create('shown', body);
        expect(again.text).to.equal(first.text).and.to.include(`secret-${made}`);
        const readings = Array.from({ length: count }, () => 'connected_account.credentials_read');
        expect(await actions()).to.deep.equal(['connected_account.created', ...readings]);
      }
    });

    it('M5: returns no credentials to a narrower token of the same client, and none that the first response did not contain', async () => {
      const [body, other] = [account(), account()];
      const [full, narrow] = [undefined, server.token('accounts:write')];
      const first = await create('narrowed', body, full);
      const secret = first.body.connected_account.authorization_details.static_auth.details.api_key;
      const replayed = await create('narrowed', body, narrow);
      expect([replayed.status, replayed.headers['idempotency-replayed']]).to.deep.equal([201, 'true']);
      expect(replayed.text).not.to.include(secret);
      expect(replayed.body.connected_account.id).to.equal(first.body.connected_account.id);
      expect(await auditOf(server, first.body.connected_account.id)).to.have.lengthOf(1);

      const hidden = await create('widened', other, narrow);
      expect(hidden.text).not.to.include(`secret-${made}`);
      expect((await create('widened', other, full)).body.connected_account.id).to.equal(
        hidden.body.connected_account.id,
      );
    });

    it('M5: returns no credentials of an account that has changed or was deleted since', async () => {
      const [changed, deleted] = [account(), account()];
      const { id } = (await create('changed', changed)).body.connected_account;
      clock.advance(1);
      const details = { authorization_details: { static_auth: { details: { api_key: 'a-later-secret' } } } };
      await server.call('PUT', ACCOUNTS, { body: { id, connected_account: details } });
      const replayed = await create('changed', changed);
      expect(replayed.status).to.equal(201);
      expect(replayed.text).not.to.match(/secret-\d|a-later-secret/);

      const gone = (await create('deleted', deleted)).body.connected_account;
      await post(`${ACCOUNTS}:delete`, undefined, { id: gone.id });
      const after = await create('deleted', deleted);
      expect([after.status, after.body.connected_account.id]).to.deep.equal([201, gone.id]);
      expect(after.text).not.to.match(/secret-\d/);
    });

    it('M5: of an update, which has no key, returns no credentials to a narrower token either', async () => {
      const { id } = (await create(undefined, account())).body.connected_account;
      const update = (token?: string, api_config = { a: 1 }) =>
        server.call('PUT', ACCOUNTS, {
          body: { id, connected_account: { api_config } },
          headers: { 'idempotency-key': 'update' },
          ...(token && { token }),
        });
      expect((await update()).text).to.include(`secret-${made}`);
      const repeated = await update(server.token('accounts:write'));
      expect([repeated.status, repeated.headers['idempotency-replayed']]).to.deep.equal([200, undefined]);
      expect(repeated.text).not.to.include(`secret-${made}`);
      expect((await update(undefined, { a: 2 })).status, 'its operation declares no 422').to.equal(200);
    });

    it('is recognized by its content: white space in the body does not count', async () => {
      const body = account();
      const first = await create('spelled', body);
      const again = await server.call('POST', ACCOUNTS, {
        body: JSON.stringify(body, null, 2),
        headers: { 'idempotency-key': 'spelled', 'content-type': 'application/json; charset=utf-8' },
      });
      expect(again.text).to.equal(first.text);
    });

    it('gets the first response for any number of concurrent requests, which have one effect', async () => {
      const body = account();
      const answers = await Promise.all(Array.from({ length: 30 }, () => create('at-once', body)));
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).to.have.lengthOf(29);
    });

    it('of a deletion gets its 200 again, although a second deletion would be 404', async () => {
      const { id } = (await create(undefined, account())).body.connected_account;
      const path = `${ACCOUNTS}:delete`;
      const first = await post(path, 'delete-1', { id });
      const again = await post(path, 'delete-1', { id });
      expect([first.status, again.status, again.text]).to.deep.equal([200, 200, '']);
      expect(again.headers['idempotency-replayed']).to.equal('true');
      expect((await post(path, 'delete-2', { id })).status).to.equal(404);
    });

    it('of a disconnection does not disconnect an account that was reconnected since', async () => {
      const { id } = (await create(undefined, account())).body.connected_account;
      const path = `${ACCOUNTS}:disconnect`;
      const first = await post(path, 'disconnect-1', { id });
      const details = { authorization_details: { static_auth: { details: { api_key: 'new' } } } };
      await server.call('PUT', ACCOUNTS, { body: { id, connected_account: details } });
      expect((await post(path, 'disconnect-1', { id })).text).to.equal(first.text);
      const { body } = await server.call('GET', `${ACCOUNTS}/details?id=${id}`);
      expect(body.connected_account.status).to.equal('ACTIVE');
    });

    it('of a failed request is executed again, because failures are not stored', async () => {
      const body = account();
      expect((await create('failed', { ...body, connector: 'unknown-connector' })).status).to.equal(400);
      expect((await create('failed', body)).status).to.equal(201);
      const conflict = account();
      await create(undefined, conflict);
      expect((await create('conflict', conflict)).body.code).to.equal('ACCOUNT_EXISTS');
      const list = await server.call('GET', `${ACCOUNTS}?identifier=${conflict.identifier}`);
      await post(`${ACCOUNTS}:delete`, undefined, { id: list.body.connected_accounts[0].id });
      expect((await create('conflict', conflict)).status).to.equal(201);
    });
  });

  describe('a different request with the same key', () => {
    it('is 422, and changes nothing', async () => {
      const body = account();
      await create('reused', body);
      const before = dumpDatabase(server);
      for (const other of [account(), { ...body, identifier: 'other' }, { ...body, connected_account: {} }]) {
        const answer = await create('reused', other);
        expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
    });
  });

  describe('a key', () => {
    it('belongs to one client', async () => {
      const clientBody = { name: 'Another', scopes: ['accounts:write', 'credentials:read'] };
      const client = (await server.call('POST', '/api/v1/api_clients', { body: clientBody })).body.api_client;
      const token = await accessToken(server, { clientId: client.id, scopes: ['accounts:write', 'credentials:read'] });
      const first = await create('shared-key', account());
      const other = await create('shared-key', account(), token);
      expect(other.status).to.equal(201);
      expect(other.headers).not.to.have.property('idempotency-replayed');
      expect(other.body.connected_account.id).not.to.equal(first.body.connected_account.id);
    });

    it('belongs to one operation', async () => {
      const { id } = (await create('one-operation', account())).body.connected_account;
      expect((await post(`${ACCOUNTS}:disconnect`, 'one-operation', { id })).status).to.equal(200);
      expect((await post(`${ACCOUNTS}:delete`, 'one-operation', { id })).status).to.equal(200);
    });

    it('belongs to one environment', async () => {
      const other = await addSecondEnvironment(server);
      const foreign = await createConnector(other, [{ type: 'API_KEY' }]);
      const first = await create('two-environments', account());
      const headers = { 'idempotency-key': 'two-environments' };
      const second = await other.call('POST', ACCOUNTS, { body: account({ connector: foreign }), headers });
      expect([first.status, second.status]).to.deep.equal([201, 201]);
    });

    it('is valid for 24 hours', async () => {
      const body = account();
      const first = await create('a-day', body);
      clock.advance(DAY - 1);
      expect((await create('a-day', body)).text).to.equal(first.text);
      clock.advance(1);
      expect((await create('a-day', body)).body.code).to.equal('ACCOUNT_EXISTS');
      expect((await create('a-day', account())).status).to.equal(201);
    });

    it('returns 409 while its first request runs, and 422 meanwhile for another content', async () => {
      const body = account();
      await claimKey(server, 'running', { route: 'createConnectedAccount', method: 'POST', path: ACCOUNTS, body });
      expect((await create('running', body)).body).to.include({ status: 409, code: 'IDEMPOTENCY_KEY_IN_USE' });
      expect((await create('running', account())).status).to.equal(422);
    });

    it('is never stored in plain text, nor is a response: only digests and ciphertext', async function () {
      // Only the database server can access its files.
      if (isOnServer()) this.skip();
      await create('key-to-be-looked-for', account());
      const { databaseFile } = server.parts.config;
      const bytes = Buffer.concat([readFileSync(databaseFile), readFileSync(`${databaseFile}-wal`)]);
      expect(bytes.includes('key-to-be-looked-for')).to.equal(false);
      expect(bytes.includes(`secret-${made}`)).to.equal(false);
    });

    it('whose stored response was altered returns 409, without replay and without repetition', async () => {
      const body = account();
      await create('altered', body);
      const { store, digester } = server.parts;
      const { id } = await firstEnvironment(server);
      const name = {
        clientId: 'test-client',
        route: 'createConnectedAccount',
        keyDigest: digester.digest('idempotency key', id, 'test-client', 'createConnectedAccount', 'altered'),
      };
      const row = await store.read.idempotencyKeys.get(id, name);
      expect(row?.state).to.equal('DONE');
      const sealed = Buffer.from(row?.sealedReply as Buffer);
      sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
      const statement = 'update idempotency_keys set sealed_reply = ? where key_digest = ?';
      expect(tamper(server.parts.config.databaseFile, statement, sealed, name.keyDigest)).to.equal(1);
      const answer = await create('altered', body);
      expect(answer.body).to.include({ status: 409, code: 'IDEMPOTENCY_REPLY_NOT_KEPT' });
    });
  });

  describe('a restart', () => {
    const folder = tempDir();
    let running: TestServer | undefined;

    afterEach(() => running?.stop());
    after(() => folder.remove());

    it('keeps responses, and releases the keys of interrupted requests', async () => {
      const options = { dataDir: folder.path, overrides: { now: clock.now } };
      const send = (key: string, body: unknown) =>
        (running as TestServer).call('POST', ACCOUNTS, { body, headers: { 'idempotency-key': key } });
      running = await startTestServer(options);
      const provider = await createConnector(running, [{ type: 'API_KEY' }]);
      const [kept, cut] = [account({ connector: provider }), account({ connector: provider })];
      const answer = await send('kept', kept);
      await claimKey(running, 'cut', { route: 'createConnectedAccount', method: 'POST', path: ACCOUNTS, body: cut });
      expect((await send('cut', cut)).status).to.equal(409);
      await running.stop();
      clock.advance(1000);
      running = await startTestServer(options);
      expect((await send('kept', kept)).text).to.equal(answer.text);
      expect((await send('cut', cut)).status).to.equal(201);
    });
  });
});
