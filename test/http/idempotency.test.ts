import { expect } from 'chai';
import { STORED } from '../../core/budgets.ts';
import { createApiClient } from '../support/api-clients.ts';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { IS_PAIR, startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const CONNECTIONS = '/api/v1/connections';
const DAY = 24 * 60 * 60 * 1000;
/**
 * The size in bytes of each response that `fill` stores. It stores several, because a slow database could exceed the
 * time limit of statements if one statement stored all bytes that a client may have.
 */
const PIECE = 4 * 1024 * 1024;

describe('idempotency keys', () => {
  let server: TestServer;
  let keys = 0;
  const clock = testClock();

  const newKey = () => ({ 'idempotency-key': `key-${++keys}` });
  const create = (headers: Record<string, string>, key_id = 'any', on: Pick<TestServer, 'call'> = server) =>
    on.call('POST', CONNECTIONS, { body: { connector: 'github', key_id }, headers });
  const total = async () => (await server.call('GET', CONNECTIONS)).body.total_size;

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
  });
  after(() => server.stop());

  it('let one of fifty simultaneous requests have an effect, and return the same response to all', async () => {
    const headers = newKey();
    const before = await total();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(headers, 'fifty')));
    expect(new Set(answers.map((answer) => answer.text)).size).to.equal(1);
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === undefined)).to.have.length(1);
    expect(await total()).to.equal(before + 1);
  });

  it('can be used again after a request that was refused', async () => {
    const headers = newKey();
    await create({}, 'taken');
    expect((await create(headers, 'taken')).status).to.equal(409);
    expect((await create(headers, 'free')).status).to.equal(201);
  });

  it('compare the content, without its white space', async () => {
    const headers = { ...newKey(), 'content-type': 'application/json' };
    const first = await server.call('POST', CONNECTIONS, { headers, body: '{"connector":"github","key_id":"text"}' });
    const second = await server.call('POST', CONNECTIONS, {
      headers,
      body: '{ "connector" : "github", "key_id":"text" }',
    });
    expect(second.headers['idempotency-replayed']).to.equal('true');
    expect(second.body).to.deep.equal(first.body);
  });

  it('belong to one operation: the same key for another operation is independent', async () => {
    const headers = newKey();
    expect((await create(headers, 'operation')).status).to.equal(201);
    const body = { name: 'Client', scopes: ['tools:read'] };
    expect((await server.call('POST', '/api/v1/api_clients', { body, headers })).status).to.equal(201);
  });

  it('belong to one client and one environment', async () => {
    const headers = newKey();
    const first = await create(headers, 'client');
    const other = await addSecondEnvironment(server);
    const there = await create(headers, 'client', other);
    expect(there.status).to.equal(201);
    expect(there.body.connection.id).not.to.equal(first.body.connection.id);
    const client = await createApiClient(server, ['connections:write']);
    const { access_token: token } = (await client.requestToken()).body;
    const body = { connector: 'github', key_id: 'client' };
    const taken = await server.call('POST', CONNECTIONS, { body, headers, token });
    expect(taken.body.code).to.equal('CONNECTION_EXISTS');
  });

  it('replay the status and the headers of the response, except those of the individual request', async () => {
    const headers = newKey();
    const first = await create({ ...headers, 'x-request-id': 'first' }, 'headers');
    const second = await create({ ...headers, 'x-request-id': 'second' }, 'headers');
    expect([second.status, second.headers['content-type']]).to.deep.equal([first.status, 'application/json']);
    expect(second.headers['x-request-id']).to.equal('second');
  });

  it('expire after 24 hours', async () => {
    const headers = newKey();
    await create(headers, 'day');
    clock.advance(DAY - 1);
    expect((await create(headers, 'day')).headers['idempotency-replayed']).to.equal('true');
    clock.advance(1);
    expect((await create(headers, 'day')).body.code).to.equal('CONNECTION_EXISTS');
  });

  it('survive a restart, and are stored encrypted: the database contains neither the key nor the response', async () => {
    const folder = tempDir();
    try {
      const headers = { 'idempotency-key': 'canary-idempotency-key' };
      const body = { name: 'Client', scopes: ['tools:read'] };
      const first = await startTestServer({ dataDir: folder.path });
      const made = await first.call('POST', '/api/v1/api_clients', { body, headers });
      const { id } = await first.parts.environmentOf('localhost');
      const name = { clientId: 'test-client', route: 'createApiClient' };
      const keyDigest = first.parts.digester.digest(
        'idempotency key',
        id,
        name.clientId,
        name.route,
        headers['idempotency-key'],
      );
      const row = await first.parts.store.read.idempotencyKeys.get(id, { ...name, keyDigest });
      expect(row?.state).to.equal('DONE');
      for (const secret of [made.body.client_secret, headers['idempotency-key']]) {
        expect(row?.sealedReply?.includes(secret)).to.equal(false);
        expect(JSON.stringify(row)).not.to.include(secret);
      }
      await first.stop();
      const second = await startTestServer({ dataDir: folder.path });
      const replayed = await second.call('POST', '/api/v1/api_clients', { body, headers });
      expect(replayed.body).to.deep.equal(made.body);
      await second.stop();
    } finally {
      folder.remove();
    }
  });

  describe('use a limited amount of memory for stored responses (M10)', () => {
    const bytesOf = async (client = 'test-client') => {
      const { store, environmentOf } = server.parts;
      return store.read.idempotencyKeys.keptBytes((await environmentOf('localhost')).id, client);
    };
    const sized = (size: number, headers: Record<string, string>, path: string) =>
      server.call('POST', '/api/v1/tools', {
        body: { ...TOOL, name: `http_get_${path}`, description: 'd'.repeat(size) },
        headers,
      });

    let fillers = 0;
    /** Stores responses until those of a client, with their keys, have this many bytes in total. */
    const fill = async (clientId: string, total: number) => {
      const { store, environmentOf, instance } = server.parts;
      const { id } = await environmentOf('localhost');
      const times = { createdAt: clock.now(), expiresAt: clock.now() + DAY };
      const rest = { requestDigest: Buffer.alloc(32), instance: instance.number, ...times };
      const addPiece = () =>
        store.write(async ({ idempotencyKeys }) => {
          const filler = { clientId, route: 'createTool', keyDigest: Buffer.alloc(32, ++fillers) };
          await idempotencyKeys.claim(id, { ...filler, ...rest });
          const missing = total - (await idempotencyKeys.keptBytes(id, clientId));
          const sealedReply = Buffer.alloc(missing < 2 * PIECE ? missing : PIECE);
          await idempotencyKeys.complete(id, filler, { status: 201, sealedReply });
        });
      while ((await bytesOf(clientId)) < total) await addPiece();
      expect(await bytesOf(clientId)).to.equal(total);
    };

    const sweepKeys = async () => {
      const { store, environmentOf } = server.parts;
      const { id } = await environmentOf('localhost');
      const everything = { rows: 10_000, bytes: Number.MAX_SAFE_INTEGER };
      await store.write((tx) => tx.idempotencyKeys.sweep(id, clock.now(), everything));
    };

    it('M10: count their stored, compressed bytes until they are removed', async () => {
      const headers = newKey();
      // Keys of other tests may expire meanwhile.
      await sweepKeys();
      const before = await bytesOf();
      const first = await sized(280, headers, 'counted');
      expect(first.status, first.text).to.equal(201);
      const grown = (await bytesOf()) - before;
      expect(grown).to.be.above(0).and.below(first.text.length);
      expect((await sized(280, headers, 'counted')).text).to.equal(first.text);
      expect((await bytesOf()) - before).to.equal(grown);

      clock.advance(DAY);
      await sweepKeys();
      expect(await bytesOf()).to.equal(0);
    });

    it('M10: beyond the quota of their client store no response, and report that the first request was carried out', async () => {
      await fill('test-client', STORED.keptRepliesBytes);
      const headers = newKey();
      expect((await create(headers, 'over')).status).to.equal(201);
      const again = await create(headers, 'over');
      expect(again.body).to.include({ status: 409, code: 'IDEMPOTENCY_REPLY_NOT_KEPT' });
      expect(again.body.detail).to.include('was carried out and returned 201');
      expect((await create(headers, 'another')).body.code).to.equal('IDEMPOTENCY_KEY_REUSED');
      expect(await bytesOf(), 'the key counts without a response').to.equal(
        STORED.keptRepliesBytes + STORED.idempotencyKeyBytes,
      );

      const client = await createApiClient(server, ['connections:write']);
      const { access_token: token } = (await client.requestToken()).body;
      const other = () =>
        server.call('POST', CONNECTIONS, { body: { connector: 'github', key_id: 'other' }, headers, token });
      expect((await other()).status).to.equal(201);
      expect((await other()).headers['idempotency-replayed'], 'the quota of another client').to.equal('true');
    });

    it('M10: store no more than the quota of their client, also of requests at the same time', async () => {
      const client = await createApiClient(server, ['connections:write']);
      const { access_token: token } = (await client.requestToken()).body;
      await fill(client.id, STORED.keptRepliesBytes - 2_000);
      const REQUESTS = 30;
      const headers = Array.from({ length: REQUESTS }, newKey);
      const send = (number: number) => {
        const body = { connector: 'github', key_id: `at-once-${number}` };
        return server.call('POST', CONNECTIONS, { body, headers: headers[number] ?? {}, token });
      };
      const answers = await Promise.all(headers.map((_, number) => send(number)));
      expect(answers.map(({ status }) => status)).to.deep.equal(headers.map(() => 201));
      const ofKeys = REQUESTS * STORED.idempotencyKeyBytes;
      expect(await bytesOf(client.id)).to.be.above(STORED.keptRepliesBytes - 2_000 + ofKeys);
      // Each server counts only its own running requests, so a second server can use the free space once more.
      const ofSecondServer = IS_PAIR ? 2_000 : 0;
      expect(await bytesOf(client.id)).to.be.at.most(STORED.keptRepliesBytes + ofKeys + ofSecondServer);
      const again = await Promise.all(headers.map((_, number) => send(number)));
      const codes = new Set(again.map(({ status, body }) => (status === 201 ? 'replayed' : body.code)));
      expect([...codes].sort()).to.deep.equal(['IDEMPOTENCY_REPLY_NOT_KEPT', 'replayed']);
    });

    it('M10: are rejected beyond the limit of their client, until old ones expire', async () => {
      const client = await createApiClient(server, ['connections:write']);
      const { access_token: token } = (await client.requestToken()).body;
      const send = (headers: Record<string, string>, key_id: string) =>
        server.call('POST', CONNECTIONS, { body: { connector: 'github', key_id }, headers, token });
      const known = newKey();
      expect((await send(known, 'known')).status).to.equal(201);
      await fill(client.id, STORED.idempotencyBytes - 255);
      const refused = await send(newKey(), 'refused');
      expect(refused.body).to.include({ status: 429, code: 'RATE_LIMITED' });
      expect(refused.body.detail).to.include('too many idempotency keys');
      expect((await send(known, 'known')).headers['idempotency-replayed']).to.equal('true');
      expect((await send({}, 'without')).status).to.equal(201);
      expect((await create(newKey(), 'another client')).status).to.equal(201);
      clock.advance(DAY);
      await sweepKeys();
      expect(await bytesOf(client.id)).to.equal(0);
      const { access_token: fresh } = (await client.requestToken()).body;
      const body = { connector: 'github', key_id: 'later' };
      const later = await server.call('POST', CONNECTIONS, { body, headers: newKey(), token: fresh });
      expect(later.status).to.equal(201);
    });
  });
});

const TOOL = {
  connector: 'http',
  title: 'Widgets',
  tags: ['widgets'],
  hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
  scopes: [],
  input_schema: { type: 'object', additionalProperties: false, properties: {} },
  output_schema: {},
  examples: [{ input: {}, note: 'All widgets.' }],
  request: { method: 'GET', path: '/widgets' },
};
