import { expect } from 'chai';
import { StorageError } from '../../db/store.ts';
import { wrap } from '../../wiring/overrides.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { slowDisk } from '../support/slow-disk.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const TURNS = 50;

describe('a raw call whose start is committed and not yet durable (E7)', () => {
  let server: TestServer;
  let upstream: Upstream;
  let id: string;
  let disk: PromiseWithResolvers<void>;

  before(async () => {
    upstream = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) },
      overrides: { store: wrap((store) => slowDisk(store, () => disk.promise)) },
    });
    disk = Promise.withResolvers<void>();
    disk.resolve();
    ({ id } = await createKeyedAccount(server));
  });
  beforeEach(() => {
    upstream.handler = (_request, res) => json(res, 200, { id: 7 });
    upstream.requests.length = 0;
    disk = Promise.withResolvers<void>();
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  /** Begins a call, and waits until the provider has received it and could have responded. */
  async function begin() {
    const headers = { 'valetkey-account-id': id };
    const call = { ended: false, answer: server.call('GET', '/api/v1/proxy/things/7', { headers }) };
    void call.answer.then(() => {
      call.ended = true;
    });
    while (upstream.requests.length === 0) await turns();
    await turns();
    return call;
  }

  async function turns(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  it('is sent, and its response waits until the start is durable', async () => {
    const call = await begin();
    expect(call.ended).to.equal(false);
    disk.resolve();
    const { status, body } = await call.answer;
    expect([status, body]).to.deep.equal([200, { id: 7 }]);
  });

  it('gets no response of the provider if the start cannot become durable, and closes the connection to it', async () => {
    const closed = Promise.withResolvers<void>();
    upstream.handler = (_request, res) => {
      res.once('close', closed.resolve);
      res.writeHead(200).write('the beginning');
    };
    const call = await begin();
    disk.reject(new StorageError('SYNC_FAILED', 'the disk is full'));
    const { status, text } = await call.answer;
    expect(status).to.equal(503);
    expect(text).to.not.contain('the beginning');
    await closed.promise;
  });

  it('waits as long before it reports that the provider did not respond', async () => {
    upstream.handler = (_request, _res, { socket }) => socket.destroy();
    const call = await begin();
    expect(call.ended).to.equal(false);
    disk.resolve();
    expect((await call.answer).status).to.equal(502);
  });
});
