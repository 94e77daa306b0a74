import { expect } from 'chai';
import { createEgress } from '../../core/net/egress.ts';
import { EgressPolicy } from '../../core/net/policy.ts';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { selectRows, tamper } from '../support/database-file.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import {
  AS_ORIGIN,
  BASIC,
  CLIENT,
  leave,
  ORDERED_ONLY,
  oauthConnector,
  revocationsOf,
  startWorker,
  tokenAccount,
} from '../support/revocations.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const GITHUB = 'https://api.github.com';

describe('a revocation', () => {
  let clock: TestClock;
  let provider: Upstream;
  let server: TestServer;
  let connector: string;
  /** Returns the identifier of the connector's provider. */
  let provided: () => string;
  let workers: ReturnType<typeof startWorker>[];

  beforeEach(async () => {
    clock = testClock();
    provider = await startUpstream();
    const origins = [AS_ORIGIN, GITHUB, 'https://moved.example', 'https://login.github.example'];
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: origins.map(provider.endpointOverride).join() },
      overrides: { now: clock.now, jobs: ORDERED_ONLY },
    });
    const made = await oauthConnector(server);
    connector = made.connector;
    provided = () => made.provider;
    workers = [];
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await server.stop();
    await provider.stop();
  });

  function start(more: Parameters<typeof startWorker>[1] = {}) {
    const worker = startWorker(server, more);
    workers.push(worker);
    return worker;
  }

  async function left() {
    const account = await tokenAccount(server, connector);
    await leave(server, account.id);
    return account;
  }

  const resultOf = async (id: string) => (await revocationsOf(server, id))[0];
  const tokensSent = () => provider.requests.map(({ body }) => new URLSearchParams(body).get('token'));
  const payloads = () =>
    selectRows(server.parts.config.databaseFile, 'select payload_sealed as sealed from jobs').map(
      (row) => row['sealed'],
    );

  describe('at a provider that responds', () => {
    it('is sent once, as the client of the connection, and its payload is deleted', async () => {
      const { id, access, refresh } = await left();
      const worker = start();
      await worker.run();
      await worker.run();
      expect(tokensSent()).to.deep.equal([refresh, access]);
      expect(provider.requests.map(({ headers }) => headers['authorization'])).to.deep.equal([BASIC, BASIC]);
      expect(await resultOf(id)).to.include({ status: 'REVOKED', attempts: 1 });
      expect(payloads()).to.deep.equal([null]);
      const [entry] = await auditOf(server, id);
      expect(entry).to.include({ action: 'revocation.succeeded', actor: 'system' });
    });

    it('uses the request of the connector file: DELETE with the credentials of the client', async () => {
      const { key_id } = await createConnection(server, { connector: 'github', type: 'OAUTH', ...CLIENT });
      const { id, access } = await tokenAccount(server, key_id);
      provider.handler = (_request, res) => res.writeHead(204).end();
      await leave(server, id);
      await start().run();
      const [request, ...others] = provider.requests;
      expect(others).to.deep.equal([]);
      expect(request).to.include({ method: 'DELETE', target: `/applications/${CLIENT.client_id}/token` });
      expect(request?.headers['authorization']).to.equal(BASIC);
      expect(JSON.parse(request?.body ?? '')).to.deep.equal({ access_token: access });
      expect((await resultOf(id))?.status).to.equal('REVOKED');
    });

    for (const typed of [false, true]) {
      it(`revokes the token that a machine client had obtained, as ${typed ? 'the client that was typed' : 'that client'}`, async () => {
        const fields = ['client_id', 'client_secret'].map((field_name) => ({
          field_name,
          label: field_name,
          input_type: 'password',
          required: true,
        }));
        const oauth_config = { token_uri: `${AS_ORIGIN}/token`, revocation_uri: `${AS_ORIGIN}/revoke` };
        const pattern = { type: 'OAUTH_M2M', oauth_config, ...(typed && { fields }) };
        const { identifier } = await createProvider(server, { auth_patterns: [pattern] });
        const { key_id } = await createConnection(server, { connector: identifier, ...(!typed && CLIENT) });
        const token = { access_token: 'machine-at', token_type: 'Bearer', expires_in: 3600 };
        provider.handler = (_request, res) => json(res, 200, token);
        const static_auth = { details: CLIENT };
        const connectedAccount = typed ? { authorization_details: { static_auth } } : {};
        const { id } = await createAccount(server, { connector: key_id, connectedAccount });
        await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
        expect(provider.requests.map(({ target }) => target)).to.deep.equal(['/token']);
        provider.requests.length = 0;
        await leave(server, id);
        await start().run();
        expect(tokensSent()).to.deep.equal(['machine-at']);
        expect(provider.requests[0]?.headers['authorization']).to.equal(BASIC);
        expect((await resultOf(id))?.status).to.equal('REVOKED');
      });
    }

    it('is unsupported if the provider has no endpoint for it, and nothing is sent', async () => {
      const none = await oauthConnector(server, { revocation_uri: undefined });
      const { id } = await tokenAccount(server, none.connector);
      await leave(server, id);
      await start().run();
      expect(await resultOf(id)).to.include({ status: 'NOT_REVOCABLE' });
      expect(provider.connections).to.equal(0);
      expect(payloads()).to.deep.equal([null]);
      expect((await auditOf(server, id))[0]?.action).to.equal('revocation.skipped');
    });

    it('fails immediately when the provider rejects it, and is logged and audited', async () => {
      provider.handler = (_request, res) => json(res, 400, { error: 'invalid_client' });
      const { id, access, refresh } = await left();
      await start().run();
      const result = await resultOf(id);
      expect(result).to.include({ status: 'FAILED', attempts: 1 });
      expect(payloads()).not.to.include(null);
      expect((await auditOf(server, id))[0]).to.deep.include({
        action: 'revocation.failed',
        details: { revocation: result?.id, reason: result?.reason },
      });
      const logged = server.logs.join('');
      expect(logged).to.include('tokens were not revoked at their provider');
      for (const secret of [access, refresh, CLIENT.client_secret]) expect(logged).not.to.include(`"${secret}"`);
    });

    it('is sent to no host that the account was not connected for (P2)', async () => {
      const moving = await oauthConnector(server);
      const { id } = await tokenAccount(server, moving.connector);
      const oauth_config = { token_uri: 'https://moved.example/token', revocation_uri: 'https://moved.example/revoke' };
      const body = {
        auth_patterns: [{ type: 'OAUTH', oauth_config: { ...oauth_config, authorize_uri: `${AS_ORIGIN}/a` } }],
      };
      const moved = await server.call('PUT', `/api/v1/custom-providers/${moving.provider}`, { body });
      expect(moved.status, moved.text).to.equal(200);
      await leave(server, id);
      await start().run();
      expect(provider.connections).to.equal(0);
      expect((await resultOf(id))?.status).to.equal('FAILED');
    });
  });

  describe('at a provider that does not respond', () => {
    it('is repeated at the time that the provider has asked for, and not earlier', async () => {
      provider.handler = (_request, res) => res.writeHead(503, { 'retry-after': '3600' }).end();
      const { id } = await left();
      const worker = start();
      await worker.run();
      expect(provider.requests).to.have.length(2);
      expect(await resultOf(id)).to.include({
        status: 'PENDING',
        reason: 'The provider returned a server error.',
        attempts: 1,
      });
      provider.handler = (_request, res) => res.writeHead(200).end();
      clock.advance(HOUR - 1);
      await worker.run();
      expect(provider.requests).to.have.length(2);
      clock.advance(1);
      await worker.run();
      expect(provider.requests).to.have.length(4);
      expect(await resultOf(id)).to.include({ status: 'REVOKED', reason: '', attempts: 2 });
    });

    it('is attempted for three days with increasing pauses, and then fails', async () => {
      provider.handler = (_request, res) => res.writeHead(500).end();
      const { id } = await left();
      const worker = start();
      const begun = clock.now();
      const tries: number[] = [];
      for (;;) {
        await worker.run();
        tries.push(clock.now() - begun);
        if ((await resultOf(id))?.status !== 'PENDING') break;
        const [row] = selectRows(server.parts.config.databaseFile, 'select run_at from jobs');
        clock.advance(Number(row?.['run_at']) - clock.now());
      }
      expect(tries.at(-1)).to.equal(72 * HOUR);
      const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
      expect(pauses[0]).to.be.within(5 * SECOND, 10 * SECOND);
      expect(pauses[4]).to.be.within(80 * SECOND, 160 * SECOND);
      for (const pause of pauses) expect(pause).to.be.at.most(HOUR);
      const result = await resultOf(id);
      expect(result).to.include({
        status: 'FAILED',
        reason: 'Abandoned after three days. The provider returned a server error.',
      });
      expect(result?.attempts).to.equal(tries.length);
      clock.advance(100 * HOUR);
      const before = provider.requests.length;
      await worker.run();
      expect(provider.requests).to.have.length(before);
    });

    it('has one last attempt at the deadline if the provider asked for a longer wait', async () => {
      provider.handler = (_request, res) => res.writeHead(429, { 'retry-after': '999999' }).end();
      const { id } = await left();
      const worker = start();
      await worker.run();
      clock.advance(72 * HOUR - 1);
      await worker.run();
      expect(provider.requests).to.have.length(2);
      clock.advance(1);
      await worker.run();
      expect(await resultOf(id)).to.include({ status: 'FAILED', attempts: 2 });
    });

    it('has a time limit, and is repeated', async () => {
      provider.handler = () => {};
      const overrides = [{ origin: AS_ORIGIN, target: `http://127.0.0.1:${provider.port}` }];
      const limits = { protocolTimeoutMs: 100 };
      const egress = createEgress(new EgressPolicy({ allow: [], overrides }), { limits });
      const { id } = await left();
      await start({ egressOf: () => egress }).run();
      expect((await resultOf(id))?.reason).to.equal('The call did not finish within 100 ms.');
      provider.handler = (_request, res) => res.writeHead(200).end();
      clock.advance(10 * SECOND);
      // Uses the default limit, because a loaded machine may take longer than 100 ms to respond.
      await start().run();
      expect((await resultOf(id))?.status).to.equal('REVOKED');
      await egress.close();
    });

    it('does not delay the revocations at other providers', async () => {
      const stuck = await Promise.all(Array.from({ length: 30 }, () => left()));
      const other = await oauthConnector(server, { revocation_uri: `${AS_ORIGIN}/quick` });
      const quick = await tokenAccount(server, other.connector);
      await leave(server, quick.id);
      const answered = new Promise<void>((resolve) => {
        provider.handler = ({ target }, res) => {
          if (target !== '/quick') return;
          res.writeHead(200).end();
          resolve();
        };
      });
      const worker = start();
      const run = worker.run();
      await answered;
      expect(provider.requests.length).to.be.below(stuck.length);
      await worker.stop();
      await run;
      for (const { id } of stuck) expect((await resultOf(id))?.status).to.equal('PENDING');
    });
  });

  describe('with several processes', () => {
    it('is sent by one of two processes that claim it concurrently', async () => {
      const { id, access, refresh } = await left();
      await Promise.all([start().run(), start().run()]);
      expect(tokensSent()).to.deep.equal([refresh, access]);
      expect(await resultOf(id)).to.include({ status: 'REVOKED', attempts: 1 });
    });

    it('is repeated immediately by the next process after a stop has interrupted it', async () => {
      const reached = new Promise<void>((resolve) => {
        provider.handler = () => resolve();
      });
      const { id } = await left();
      const first = start();
      const run = first.run();
      await reached;
      await first.stop();
      await run;
      expect((await resultOf(id))?.status).to.equal('PENDING');
      provider.handler = (_request, res) => res.writeHead(200).end();
      await start().run();
      expect((await resultOf(id))?.status).to.equal('REVOKED');
    });

    it('is repeated after a pause when the instance that sent it has ended', async () => {
      const { id } = await left();
      const { store } = server.parts;
      const environmentId = (await server.parts.environmentOf('localhost')).id;
      const gone = { id: 'inst_gone', version: '0.1.0', startedAt: clock.now(), beatAt: clock.now() };
      const owner = await store.write((tx) => tx.instances.register(gone));
      const claim = { kind: 'revocation', environmentId, lane: provided(), owner, now: clock.now(), limit: 1 };
      expect(await store.write((tx) => tx.jobQueue.claim(claim))).to.have.lengthOf(1);
      const worker = start();
      await worker.run();
      expect(provider.connections).to.equal(0);
      await store.write((tx) => tx.instances.remove(owner));
      await worker.run();
      expect(await resultOf(id)).to.include({ status: 'PENDING', attempts: 1 });
      expect((await resultOf(id))?.reason).to.equal('The server ended during the attempt.');
      clock.advance(10 * SECOND);
      await worker.run();
      expect(await resultOf(id)).to.include({ status: 'REVOKED', attempts: 2 });
    });
  });

  describe('of tokens that a refresh returns too late (R3, C12)', () => {
    async function lateRefresh(how: 'delete' | 'disconnect') {
      const { id } = await tokenAccount(server, connector, { access_token: undefined });
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        provider.handler = ({ target }, res) => {
          if (target !== '/token') {
            res.writeHead(200).end();
            return;
          }
          answer = () => json(res, 200, { access_token: 'late-at', refresh_token: 'late-rt', token_type: 'Bearer' });
          resolve();
        };
      });
      const reading = server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
      await asked;
      await leave(server, id, how);
      answer();
      const { status, text } = await reading;
      expect(text).not.to.include('late-at');
      provider.requests.length = 0;
      await start().run();
      expect(tokensSent()).to.include.members(['late-rt', 'late-at']);
      expect((await revocationsOf(server, id)).map((result) => result.status)).to.deep.equal(['REVOKED', 'REVOKED']);
      return { id, status };
    }

    it('is sent, and the deleted account is not restored', async () => {
      const { id, status } = await lateRefresh('delete');
      expect(status).to.equal(404);
      expect((await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`)).status).to.equal(404);
    });

    it('is sent, and the disconnected account stays without credentials', async () => {
      const { id } = await lateRefresh('disconnect');
      const row = await accountRow(server, id);
      expect(row).to.include({ status: 'DISCONNECTED', credentialsSealed: null, wrappedDataKey: null });
    });
  });

  it('that cannot be ordered because the credentials cannot be decrypted does not block the deletion, and is listed', async () => {
    const { id } = await tokenAccount(server, connector);
    tamper(
      server.parts.config.databaseFile,
      'update accounts set credentials_sealed = ? where id = ?',
      Buffer.of(0),
      id,
    );
    await leave(server, id);
    expect(await resultOf(id)).to.include({
      status: 'FAILED',
      attempts: 0,
      reason: 'The credentials could not be decrypted, so they could not be revoked.',
    });
    const events = await auditOf(server, id);
    expect(events.map(({ action }) => action)).to.include.members(['connected_account.deleted', 'revocation.failed']);
    expect(events.find(({ action }) => action === 'revocation.failed')).to.include({ actor: 'system' });
  });
});

describe('by a running server', () => {
  const folder = tempDir();
  const clock = testClock();
  let provider: Upstream;
  let server: TestServer;
  let connector: string;

  const startServer = () =>
    startTestServer({
      dataDir: folder.path,
      overrides: { now: clock.now },
      env: { VALETKEY_ENDPOINT_OVERRIDES: provider.endpointOverride(AS_ORIGIN) },
    });

  before(async () => {
    provider = await startUpstream();
    server = await startServer();
    ({ connector } = await oauthConnector(server));
  });
  after(async () => {
    await server.stop();
    await provider.stop();
    folder.remove();
  });

  /** Resolves when the provider receives the revocation of a token. */
  function revoked(token: string): Promise<void> {
    return new Promise((resolve) => {
      provider.handler = ({ body }, res) => {
        res.writeHead(200).end();
        if (new URLSearchParams(body).get('token') === token) resolve();
      };
    });
  }

  it('is sent after a deletion while its clock is stopped, so without waiting', async () => {
    const { id, refresh } = await tokenAccount(server, connector);
    const told = revoked(refresh);
    await leave(server, id);
    await told;
  });

  it('is repeated for rejected tokens when a client retries the failed job', async () => {
    provider.handler = (_request, res) => res.writeHead(400).end();
    const { id, access, refresh } = await tokenAccount(server, connector);
    await leave(server, id);
    await server.parts.jobs.runDue();
    const failedJobs = async () => {
      const { body } = await server.call('GET', '/api/v1/jobs?kind=revocation&state=FAILED');
      return body.jobs.filter((job: { subject_id: string }) => job.subject_id === id);
    };
    const [job, ...others] = await failedJobs();
    expect(others).to.deep.equal([]);
    expect(job).to.include({
      state: 'FAILED',
      attempts: 1,
      last_error:
        "The provider's response was not as expected (HTTP status 400). Check the addresses in its definition.",
    });
    provider.requests.length = 0;
    provider.handler = (_request, res) => res.writeHead(200).end();
    const retried = await server.call('POST', `/api/v1/jobs/${job.id}:retry`);
    expect(retried.status, retried.text).to.equal(200);
    await server.parts.jobs.runDue();
    const sent = provider.requests.map(({ body }) => new URLSearchParams(body).get('token'));
    expect(sent).to.deep.equal([refresh, access]);
    expect(await revocationsOf(server, id)).to.have.lengthOf(1);
    expect((await revocationsOf(server, id))[0]).to.include({ id: job.id, status: 'REVOKED', reason: '', attempts: 1 });
    expect(await failedJobs()).to.deep.equal([]);
    const actions = (await auditOf(server, id)).map(({ action }) => action);
    expect(actions.slice(0, 2)).to.deep.equal(['revocation.succeeded', 'revocation.failed']);
  });

  it('continues after a restart', async () => {
    const reached = new Promise<void>((resolve) => {
      provider.handler = () => resolve();
    });
    const { id, refresh } = await tokenAccount(server, connector);
    await leave(server, id);
    await reached;
    await server.stop();
    const told = revoked(refresh);
    server = await startServer();
    await told;
  });
});
