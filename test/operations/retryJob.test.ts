import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { selectRows, tamper } from '../support/database-file.ts';
import { jobMaker } from '../support/jobs.ts';
import { AS_ORIGIN, leave, oauthConnector, revocationsOf, tokenAccount } from '../support/revocations.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const DAY = 86_400_000;
const pathOf = (id: string) => `/api/v1/jobs/${id}:retry`;

describe('retryJob', () => {
  let clock: TestClock;
  let provider: Upstream;
  let server: TestServer;
  let make: Awaited<ReturnType<typeof jobMaker>>;
  /** The job of a revocation that the provider rejected. */
  let id: string;
  let tokens: { access: string; refresh: string };
  let connector: string;

  before(async () => {
    clock = testClock();
    provider = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: provider.endpointOverride(AS_ORIGIN) },
      overrides: { now: clock.now },
    });
    make = await jobMaker(server);
    ({ connector } = await oauthConnector(server));
  });
  after(async () => {
    await server.stop();
    await provider.stop();
  });

  beforeEach(async () => {
    provider.handler = (_request, res) => res.writeHead(400).end();
    const account = await tokenAccount(server, connector);
    await leave(server, account.id);
    await server.parts.jobs.runDue();
    const [revocation] = await revocationsOf(server, account.id);
    expect(revocation?.status).to.equal('FAILED');
    id = revocation?.id ?? '';
    tokens = account;
    provider.requests.length = 0;
  });

  const jobOf = async () => {
    const { jobs } = (await server.call('GET', '/api/v1/jobs')).body;
    return jobs.find((job: { id: string }) => job.id === id);
  };

  describe('200', () => {
    it('returns the waiting job, with the attempts counted from zero and the last error', async () => {
      const failed = await jobOf();
      clock.advance(5 * DAY);
      const answer = await server.call('POST', pathOf(id));
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.job).to.deep.equal({
        ...failed,
        state: 'WAITING',
        attempts: 0,
        next_attempt_at: new Date(clock.now()).toISOString(),
        updated_at: new Date(clock.now()).toISOString(),
      });
      expect(failed.last_error).to.equal(
        "The provider's response was not as expected (HTTP status 400). Check the addresses in its definition.",
      );
      for (const token of [tokens.access, tokens.refresh]) expect(answer.text).not.to.include(token);
    });

    it('gives the job as much time as a new one has', async () => {
      clock.advance(5 * DAY);
      await server.call('POST', pathOf(id));
      const [row] = selectRows(server.parts.config.databaseFile, 'select give_up_at from jobs where id = ?', id);
      expect(row?.['give_up_at']).to.equal(clock.now() + 3 * DAY);
    });

    it('makes the server run an attempt without waiting for a later time', async () => {
      const reached = new Promise<void>((resolve) => {
        provider.handler = (_request, res) => {
          res.writeHead(200).end();
          resolve();
        };
      });
      await server.call('POST', pathOf(id));
      await reached;
    });

    it('records who retried it in the audit log', async () => {
      const { headers } = await server.call('POST', pathOf(id));
      const [entry, ...others] = await auditOf(server, id);
      expect(others).to.deep.equal([]);
      expect(entry).to.include({
        action: 'job.retried',
        actor: 'test-client',
        requestId: headers['x-request-id'],
      });
    });

    it('returns the stored response to a repeated Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'retry-1' };
      const first = await server.call('POST', pathOf(id), { headers });
      await server.parts.jobs.runDue();
      const again = await server.call('POST', pathOf(id), { headers });
      expect(again.headers['idempotency-replayed']).to.equal('true');
      expect(again.body).to.deep.equal(first.body);
      await server.parts.jobs.runDue();
      expect((await jobOf()).attempts).to.equal(1);
    });

    it('can retry a job that failed again', async () => {
      await server.call('POST', pathOf(id));
      await server.parts.jobs.runDue();
      expect(await jobOf()).to.include({ state: 'FAILED', attempts: 1 });
      expect((await server.call('POST', pathOf(id))).status).to.equal(200);
    });
  });

  describe('400', () => {
    it('rejects a request body', async () => {
      const answer = await server.call('POST', pathOf(id), { body: {} });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(await jobOf()).to.include({ state: 'FAILED' });
    });
  });

  describe('403', () => {
    it('requires the scope jobs:write', async () => {
      const token = server.token('jobs:read', 'accounts:write', 'admin');
      expect((await server.call('POST', pathOf(id), { token })).body.code).to.equal('INSUFFICIENT_SCOPE');
      expect(await jobOf()).to.include({ state: 'FAILED' });
      expect((await server.call('POST', pathOf(id), { token: server.token('jobs:write') })).status).to.equal(200);
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('POST', pathOf(unknownId('job')));
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });

    it('rejects a job of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      expect((await other.call('POST', pathOf(id))).body).to.include({ status: 404, code: 'NOT_FOUND' });
      expect(await jobOf()).to.include({ state: 'FAILED' });
    });
  });

  describe('409', () => {
    async function expectRefused(job: string, detail: string) {
      const answer = await server.call('POST', pathOf(job));
      expect(answer.body).to.include({ status: 409, code: 'JOB_NOT_RETRYABLE', detail });
      expect(await auditOf(server, job)).to.deep.equal([]);
    }

    it('JOB_NOT_RETRYABLE for a job that waits, runs or succeeded', async () => {
      for (const job of [await make.waiting(), await make.running(), await make.done()]) {
        await expectRefused(job, 'The job has not failed. Only failed jobs can be retried.');
      }
    });

    it('JOB_NOT_RETRYABLE for a job whose payload was removed', async () => {
      const statement = 'update jobs set payload_sealed = null, data_key = null, kek_id = null where id = ?';
      expect(tamper(server.parts.config.databaseFile, statement, id)).to.equal(1);
      await expectRefused(id, 'The data of the job was deleted or never existed.');
    });

    it('JOB_NOT_RETRYABLE for a job that failed before it had a payload', async () => {
      const job = await make.untried('revocation', 'The credentials could not be decrypted.');
      await expectRefused(job, 'The data of the job was deleted or never existed.');
    });

    it('JOB_NOT_RETRYABLE for a kind that this version does not know', async () => {
      await expectRefused(
        await make.failed('Failed.'),
        'This version of the server does not support jobs of this kind.',
      );
    });
  });

  describe('422', () => {
    it('rejects a known idempotency key for another job', async () => {
      const headers = { 'idempotency-key': 'retry-2' };
      expect((await server.call('POST', pathOf(id), { headers })).status).to.equal(200);
      const answer = await server.call('POST', pathOf(await make.waiting()), { headers });
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });
});
