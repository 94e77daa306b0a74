import { expect } from 'chai';
import type { ExecutionOutcome } from '../../db/store.ts';
import { createAccount } from '../support/accounts.ts';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/executions:statistics';
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** A quarter past an hour. */
const START = Date.UTC(2026, 10, 20, 9, 15);

describe('getExecutionStatistics', () => {
  const clock = testClock(START);
  let server: TestServer;
  let accountId: string;

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
    accountId = (await createAccount(server)).id;
    await run('github_get_issue', 40, { status: 'SUCCEEDED', upstreamStatus: 200 });
    await run('github_get_issue', 900, { status: 'SUCCEEDED', upstreamStatus: 200 });
    await run('github_list_repos', 30_000, { status: 'FAILED', errorKind: 'upstream_timeout' });
    clock.advance(HOUR_MS);
    await run('github_get_issue', 120_000, { status: 'FAILED', errorKind: null });
    await run('github_get_issue', 5, { status: 'UNKNOWN' });
  });
  after(() => server.stop());

  /** Records an execution that took some milliseconds and ended now. */
  async function run(toolName: string, ms: number, outcome: Omit<ExecutionOutcome, 'finishedAt'>): Promise<void> {
    const { store, newId, now } = server.parts;
    const environment = await server.parts.environmentOf('localhost');
    const id = newId('exec');
    const start = { agentRunId: null, apiClientId: 'c', instance: 0, startedAt: now() - ms };
    await store.write(async (tx) => {
      await tx.executions.insert(environment.id, { id, accountId, connector: 'github', toolName, ...start });
      await tx.executions.finish(environment.id, id, { ...outcome, finishedAt: now() });
    });
  }

  const get = (query: string) => server.call('GET', `${PATH}?${query}`);

  describe('200', () => {
    it('counts executions by the hour in which they ended', async () => {
      const { body } = await get('group_by=hour');
      expect(body.groups.map((group: Record<string, unknown>) => [group['key'], group['executions']])).to.deep.equal([
        ['2026-11-20T09:00:00.000Z', 3],
        ['2026-11-20T10:00:00.000Z', 2],
      ]);
      expect(body.total).to.include({ key: '', executions: 5, succeeded: 2, failed: 2, unknown: 1 });
      expect(body).to.include({ from: '2026-11-19T10:00:00.000Z', before: '2026-11-20T11:00:00.000Z' });
    });

    it('estimates durations within the bounds of the histogram, without those of unknown outcomes', async () => {
      const { body } = await get('group_by=tool_name&tool_name=github_list_repos');
      expect(body.total.duration_ms_p50).to.be.within(20_000, 60_000);
      const issue = (await get('group_by=tool_name&tool_name=github_get_issue')).body.groups[0];
      expect(issue.duration_ms_p50).to.be.within(50, 1000);
      expect(issue.duration_ms_p99).to.equal(60_000);
      const empty = (await get('group_by=hour&tool_name=http_get')).body;
      expect(empty.total).to.include({ executions: 0, duration_ms_p50: null, duration_ms_p99: null });
    });

    it('names the outcome, and the kind of each failure', async () => {
      const { groups } = (await get('group_by=outcome')).body;
      const counts = groups.map((group: Record<string, unknown>) => [group['key'], group['executions']]);
      expect(Object.fromEntries(counts)).to.deep.equal({ succeeded: 2, unknown: 1, upstream_timeout: 1, not_sent: 1 });
    });

    it('lists the groups with the most executions first', async () => {
      const { groups } = (await get('group_by=tool_name')).body;
      expect(groups.map((group: { key: string }) => group.key)).to.deep.equal([
        'github_get_issue',
        'github_list_repos',
      ]);
      expect((await get('group_by=connector')).body.groups[0]).to.include({ key: 'github', executions: 5 });
      expect((await get('group_by=connector&connector=slack')).body.groups).to.deep.equal([]);
    });

    it('returns the requested period', async () => {
      const { body } = await get('group_by=hour&from=2026-11-20T10:30:00Z&before=2026-11-20T10:31:00Z');
      expect(body.total.executions).to.equal(2);
    });

    it('takes a leap second for the second after it, because Date has none', async () => {
      const { body, text } = await get('group_by=hour&from=2026-11-19T20:00:00Z&before=2026-11-19T23:59:60Z');
      expect(body, text).to.include({ from: '2026-11-19T20:00:00.000Z', before: '2026-11-20T00:00:00.000Z' });
    });

    it('returns nothing of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', `${PATH}?group_by=hour`)).body.total.executions).to.equal(0);
    });

    it('keeps the counts of deleted executions until the counts themselves expire', async () => {
      const { store } = server.parts;
      const { id } = await server.parts.environmentOf('localhost');
      await store.write((tx) => tx.executions.sweep(id, START - 1000, 1));
      expect((await get('group_by=hour')).body.total.executions).to.equal(5);
      const hour = Math.floor(START / HOUR_MS);
      expect(await store.write((tx) => tx.executionStatistics.sweep(id, hour))).to.equal(0);
      expect(await store.write((tx) => tx.executionStatistics.sweep(id, hour + 1))).to.equal(3);
      expect((await get('group_by=hour')).body.total.executions).to.equal(2);
    });
  });

  describe('400', () => {
    for (const [query, field] of [
      ['', 'group_by'],
      ['group_by=user', 'group_by'],
      ['group_by=hour&from=yesterday', 'from'],
      ['group_by=hour&from=2026-11-20T10:00:00%2B01', 'from'],
      ['group_by=hour&from=2026-11-20T10:00:00Z&before=2026-11-20T10:00:00Z', 'from'],
      [`group_by=hour&from=${new Date(START - 40 * DAY_MS).toISOString()}`, 'from'],
    ] as const) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await get(query);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(field);
      });
    }
  });
});
