import { expect } from 'chai';
import { testClock } from '../support/clock.ts';
import { type JobResponse, jobMaker, KIND_WITHOUT_RUNNER } from '../support/jobs.ts';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/jobs';
const SECRET = 'a-token-in-the-payload';

describe('listJobs', () => {
  const clock = testClock();
  let server: TestServer;
  let ids: Record<'untried' | 'failed' | 'done' | 'running' | 'waiting', string>;

  const list = async (query: string) => {
    const answer = await server.call('GET', `${PATH}${query}`);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.total_size).to.equal(answer.body.jobs.length);
    return answer.body.jobs as JobResponse[];
  };
  const idsOf = async (query: string) => (await list(query)).map(({ id }) => id);

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
    const make = await jobMaker(server);
    const later = async (id: Promise<string>) => {
      await id;
      clock.advance(1000);
      return id;
    };
    ids = {
      untried: await later(make.untried('revocation', 'The credentials could not be decrypted.')),
      failed: await later(make.failed('The provider failed.', { token: SECRET })),
      done: await later(make.done()),
      running: await later(make.running({ token: SECRET })),
      waiting: await later(make.waiting({ token: SECRET })),
    };
  });
  after(() => server.stop());

  describe('200', () => {
    it('lists the jobs that wait, run or failed, newest first', async () => {
      expect(await idsOf('')).to.deep.equal([ids.waiting, ids.running, ids.failed, ids.untried]);
    });

    it('shows each job without its payload', async () => {
      const [waiting, running, failed, untried] = await list('');
      const job = { kind: KIND_WITHOUT_RUNNER, subject_id: 'ca_1', attempts: 0, next_attempt_at: null, last_error: '' };
      const at = (second: number) => ({
        created_at: `2026-06-01T12:00:0${second}.000Z`,
        updated_at: `2026-06-01T12:00:0${second}.000Z`,
      });
      expect(waiting).to.deep.equal({
        ...job,
        ...at(4),
        id: ids.waiting,
        state: 'WAITING',
        next_attempt_at: '2026-06-01T12:00:04.000Z',
      });
      expect(running).to.deep.equal({ ...job, ...at(3), id: ids.running, state: 'RUNNING', attempts: 1 });
      const end = { id: ids.failed, state: 'FAILED', attempts: 1, last_error: 'The provider failed.' };
      expect(failed).to.deep.equal({ ...job, ...at(1), ...end });
      expect(untried).to.include({ kind: 'revocation', last_error: 'The credentials could not be decrypted.' });
      expect((await server.call('GET', PATH)).text).not.to.include(SECRET);
    });

    it('combines filters', async () => {
      expect(await idsOf('?state=WAITING')).to.deep.equal([ids.waiting]);
      expect(await idsOf('?state=RUNNING')).to.deep.equal([ids.running]);
      expect(await idsOf('?state=FAILED')).to.deep.equal([ids.failed, ids.untried]);
      expect(await idsOf('?kind=revocation')).to.deep.equal([ids.untried]);
      expect(await idsOf(`?kind=${KIND_WITHOUT_RUNNER}&state=FAILED`)).to.deep.equal([ids.failed]);
      expect(await idsOf('?kind=revocation&state=WAITING')).to.deep.equal([]);
      expect(await idsOf('?kind=unknown')).to.deep.equal([]);
    });

    it('pages in both directions', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=3`, 'jobs');
      expect(pages.map((page) => page.length)).to.deep.equal([3, 1]);
      expect(pages.flat().map(({ id }) => id)).to.deep.equal(await idsOf(''));
    });

    it('returns no job of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', PATH)).body).to.deep.include({ jobs: [], total_size: 0 });
    });
  });

  describe('400', () => {
    it('rejects a page token of other filters', async () => {
      const { next_page_token: token } = (await server.call('GET', `${PATH}?page_size=1`)).body;
      const query = `page_size=1&state=FAILED&page_token=${encodeURIComponent(token)}`;
      expect((await server.call('GET', `${PATH}?${query}`)).body.code).to.equal('INVALID_PAGE_TOKEN');
    });

    for (const query of ['page_size=0', 'state=DONE', 'state=failed', 'kind=', 'subject_id=ca_1']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });

  describe('403', () => {
    it('requires the scope jobs:read', async () => {
      const narrow = server.token('jobs:write', 'accounts:read', 'admin');
      expect((await server.call('GET', PATH, { token: narrow })).body.code).to.equal('INSUFFICIENT_SCOPE');
      expect((await server.call('GET', PATH, { token: server.token('jobs:read') })).status).to.equal(200);
    });
  });
});
