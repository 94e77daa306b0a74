import { expect } from 'chai';
import fc from 'fast-check';
import type {
  AccountFilters,
  AccountSummaryRow,
  ExecutionFilters,
  ExecutionRow,
  Page,
  PageRequest,
} from '../../db/store.ts';
import {
  account,
  addConnection,
  addEnvironment,
  addKeyChecks,
  connection,
  github,
  job,
  NOW,
  oauthGrant,
  openTestStore,
  type TestStore,
} from './support.ts';

type Read<Row> = (page: PageRequest) => Promise<Page<Row>>;

/** Limits so small that a few hundred rows take many slices (ranges of rows that are read one after the other). */
const LIMITS = { slice: 7, largestSlice: 20, counted: 20, countedSlices: 5 };

const ACCOUNTS = 300;
const STATUSES = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'DISCONNECTED'] as const;
const OUTCOMES = ['SUCCEEDED', 'FAILED', 'UNKNOWN'] as const;

async function walk<Row extends { id: string }>(read: Read<Row>, size: number, back: boolean, from?: string) {
  const ids: string[] = [];
  let cursor = from;
  for (;;) {
    const page = await read(cursor === undefined ? { size } : { size, [back ? 'before' : 'after']: cursor });
    ids.push(...(back ? page.rows.toReversed() : page.rows).map(({ id }) => id));
    const edge = back ? page.rows[0] : page.rows.at(-1);
    if (!edge || !(back ? page.hasPrevious : page.hasNext)) return ids;
    cursor = edge.id;
  }
}

/** Compares every page of a list, in both directions, and its total with the rows that match the filters. */
async function expectList<Row extends { id: string }>(read: Read<Row>, ids: string[], what: string) {
  expect(await walk(read, 13, false), what).to.deep.equal(ids);
  const last = ids.at(-1);
  if (last) expect(await walk(read, 13, true, last), `${what}, back`).to.deep.equal(ids.slice(0, -1).reverse());
  const { total, totalIsExact } = await read({ size: 1 });
  if (totalIsExact) expect(total, `total of ${what}`).to.equal(ids.length);
  else expect(total, `bound of ${what}`).to.be.within(Math.min(1, ids.length), ids.length);
  return totalIsExact;
}

describe('F6: lists that grow without limit', () => {
  let test: TestStore;
  let connections: string[];
  const accounts: AccountSummaryRow[] = [];
  const executions: ExecutionRow[] = [];

  before(async () => {
    test = await openTestStore({ listLimits: LIMITS });
    await addKeyChecks(test.store, 'kek_1');
    const { store, env, newId } = test;
    const slack = await addConnection(store, env, connection(newId, { keyId: 'slack-eu', providerKey: 'slack' }));
    const second = await addConnection(store, env, connection(newId, { keyId: 'github-2', providerKey: 'github' }));
    connections = [await github(test), slack, second];
    const names = [
      ['github', 'github'],
      ['slack-eu', 'slack'],
      ['github-2', 'github'],
    ] as const;
    const other = await addEnvironment(store, newId, 'other.example');
    const foreign = await addConnection(store, other, connection(newId));
    await store.write(async (tx) => {
      for (let i = 0; i < ACCOUNTS; i++) {
        // The third connection has accounts only at the beginning, and one status is rare.
        const place = i < 20 ? 2 : i % 9 === 0 ? 1 : 0;
        const [connector, provider] = names[place] as (typeof names)[number];
        const row = account(newId, connections[place] as string, {
          connector,
          provider,
          organizationId: i % 3 === 0 ? 'org_big' : `org_${i % 50}`,
          userId: i % 2 === 0 ? '' : `user_${i % 40}`,
          identifier: `${['Ada', 'grace', 'LINUS'][i % 3]}.${i}@example.com`,
          status: i === 5 ? 'PENDING_AUTH' : i % 11 === 0 ? 'EXPIRED' : 'ACTIVE',
        });
        await tx.accounts.insert(env, row);
        const of = account(newId, foreign, { identifier: `ada.${i}@example.com` });
        await tx.accounts.insert(other, of);
        const execution = {
          id: newId('exec'),
          accountId: i % 4 === 0 ? null : `ca_${i % 5}`,
          connector,
          toolName: i % 6 === 0 ? 'proxy' : `${provider}_tool_${i % 3}`,
          agentRunId: i % 5 === 0 ? `run_${i % 20}` : null,
          apiClientId: 'cli_1',
          instance: 0,
          // The times go back once, as if the clock had been set back.
          startedAt: NOW + (i > 150 ? i - 60 : i) * 1000,
        };
        await tx.executions.insert(env, execution);
        await tx.executions.insert(other, { ...execution, id: newId('exec') });
        const status = i === 7 ? 'UNKNOWN' : OUTCOMES[i % 8 === 0 ? 1 : 0];
        if (i % 50 !== 49)
          await tx.executions.finish(env, execution.id, { status: status as 'FAILED', finishedAt: NOW });
      }
    });
    accounts.push(...(await all((page) => store.read.accounts.list(env, {}, page))));
    executions.push(...(await all((page) => store.read.executions.list(env, {}, page))));
    expect([accounts.length, executions.length]).to.deep.equal([ACCOUNTS, ACCOUNTS]);
  });
  after(() => test.end());

  async function all<Row extends { id: string }>(read: Read<Row>): Promise<Row[]> {
    const rows: Row[] = [];
    let page = await read({ size: 100 });
    for (;;) {
      rows.push(...page.rows);
      if (!page.hasNext) return rows;
      page = await read({ size: 100, after: page.rows.at(-1)?.id });
    }
  }

  const idsOf = <Row extends { id: string }>(rows: Row[], fits: (row: Row) => boolean) =>
    rows.filter(fits).map(({ id }) => id);
  const oneOf = (values: readonly unknown[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

  it('return the executions that match any combination of filters, in both directions, with an exact total', async () => {
    const times = oneOf([0, 50, 120, 150, 200, 238, 300].map((seconds) => NOW + seconds * 1000));
    const filters = fc.record({
      agentRunId: oneOf(['run_0', 'run_5', 'run_none']),
      accountId: oneOf(['ca_1', 'ca_3', 'ca_none']),
      toolName: oneOf(['proxy', 'github_tool_1', 'slack_tool_0', 'none']),
      connector: oneOf(['github', 'slack-eu', 'github-2', 'none']),
      status: oneOf(['STARTED', ...OUTCOMES]),
      startedFrom: times,
      startedBefore: times,
    });
    const fits = (row: ExecutionRow, { startedFrom, startedBefore, ...same }: ExecutionFilters) =>
      Object.entries(same).every(([name, value]) => value === undefined || row[name as keyof ExecutionRow] === value) &&
      (startedFrom === undefined || row.startedAt >= startedFrom) &&
      (startedBefore === undefined || row.startedAt < startedBefore);
    await fc.assert(
      fc.asyncProperty(filters, async (given) => {
        const filter = given as ExecutionFilters;
        const read: Read<ExecutionRow> = (page) => test.store.read.executions.list(test.env, filter, page);
        const ids = idsOf(executions, (row) => fits(row, filter));
        const isExact = await expectList(read, ids, JSON.stringify(filter));
        const { agentRunId, accountId, startedFrom, startedBefore } = filter;
        const isCounted = [agentRunId, accountId, startedFrom, startedBefore].every((value) => value === undefined);
        if (isCounted) expect(isExact).to.equal(true);
      }),
      { numRuns: 150 },
    );
  });

  it('return the accounts that match any combination of filters, in both directions, with an exact total', async () => {
    const filters = fc.record({
      userId: oneOf(['user_1', 'user_7', 'user_none']),
      identifier: oneOf(['Ada.3@example.com', 'none']),
      organizationId: oneOf(['org_big', 'org_1', 'none']),
      connectionId: oneOf([0, 1, 2]),
      connector: oneOf(['github', 'slack-eu', 'none']),
      provider: oneOf(['github', 'slack']),
      status: oneOf(STATUSES),
    });
    await fc.assert(
      fc.asyncProperty(filters, async ({ connectionId: place, ...given }) => {
        const connectionId = place === undefined ? undefined : connections[place as number];
        const filter = { ...given, connectionId } as AccountFilters;
        const read: Read<AccountSummaryRow> = (page) => test.store.read.accounts.list(test.env, filter, page);
        const ids = idsOf(accounts, (row) =>
          Object.entries(filter).every(([name, value]) => value === undefined || row[name as 'id'] === value),
        );
        const isExact = await expectList(read, ids, JSON.stringify(filter));
        if (!filter.userId && !filter.identifier && !filter.organizationId) expect(isExact).to.equal(true);
      }),
      { numRuns: 150 },
    );
  });

  it('return the accounts that contain a text, everywhere and within a connection', async () => {
    for (const query of [
      'ada.',
      'ADA.1',
      'example',
      '.29',
      'git',
      'hub-2',
      'slack',
      'LACK-E',
      'linus.298@',
      'nobody',
      'com',
    ]) {
      for (const connectionId of [undefined, ...connections, 'conn_none']) {
        const read: Read<AccountSummaryRow> = (page) =>
          test.store.read.accounts.search(test.env, connectionId ? { query, connectionId } : { query }, page);
        const ids = idsOf(
          accounts,
          (row) =>
            (connectionId === undefined || row.connectionId === connectionId) &&
            [row.identifier, row.connector, row.provider].some((text) =>
              text.toLowerCase().includes(query.toLowerCase()),
            ),
        );
        await expectList(read, ids, `${query} in ${connectionId}`);
      }
    }
  });

  it('let other work run after each slice that is read', async () => {
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    // Only the oldest executions match the filter, so all newer ones of the account are read first.
    const filter = { accountId: 'ca_1', startedBefore: NOW + 2000 };
    const page = await test.store.read.executions.list(test.env, filter, { size: 1 });
    clearImmediate(next);
    expect(page.rows).to.have.length(1);
    const candidates = executions.filter(({ accountId }) => accountId === 'ca_1').length;
    expect(turns).to.be.at.least(Math.floor(candidates / LIMITS.slice) - 1);
  });

  describe('count by stored counters', () => {
    const total = async (filters: ExecutionFilters) =>
      (await test.store.read.executions.list(test.env, filters, { size: 1 })).total;

    it('running, ended and removed executions', async () => {
      const { store, env, newId } = test;
      const what = {
        accountId: null,
        connector: 'counted',
        toolName: 'counted_tool',
        agentRunId: null,
        apiClientId: 'c',
        instance: 0,
      };
      const ids = [newId('exec'), newId('exec'), newId('exec')];
      const totals = () =>
        Promise.all(
          [{}, { status: 'STARTED' }, { status: 'SUCCEEDED' }].map((more) =>
            total({ connector: 'counted', ...more } as ExecutionFilters),
          ),
        );
      await store.write(async (tx) => {
        for (const id of ids) await tx.executions.insert(env, { id, ...what, startedAt: NOW - 1000 });
      });
      expect(await totals()).to.deep.equal([3, 3, 0]);
      const end = { status: 'SUCCEEDED' as const, finishedAt: NOW };
      await store.write((tx) => tx.executions.finish(env, ids[0] as string, end));
      expect(await totals()).to.deep.equal([3, 2, 1]);
      const undone = store.write(async (tx) => {
        await tx.executions.finish(env, ids[1] as string, end);
        throw new Error('undone');
      });
      await undone.catch(() => {});
      expect(await totals()).to.deep.equal([3, 2, 1]);
      expect(await store.write((tx) => tx.executions.sweep(env, NOW, 2))).to.equal(2);
      expect(await store.write((tx) => tx.executions.sweep(env, NOW, 2))).to.equal(1);
      expect(await store.write((tx) => tx.executions.sweep(env, NOW, 2))).to.equal(0);
      expect(await totals()).to.deep.equal([0, 0, 0]);
    });
  });

  it('statistics in slices of hours', async () => {
    const { store, env, newId } = test;
    const HOUR_MS = 3_600_000;
    const first = Math.floor(NOW / HOUR_MS) + 100;
    const same = { accountId: null, agentRunId: null, apiClientId: 'c', instance: 0, connector: 'busy' };
    await store.write(async (tx) => {
      for (const hour of [0, 1, 1, 5, 40]) {
        for (let tool = 0; tool < 12; tool++) {
          const at = (first + hour) * HOUR_MS + tool;
          const id = newId('exec');
          await tx.executions.insert(env, { ...same, id, toolName: `tool_${tool}`, startedAt: at });
          await tx.executions.finish(env, id, { status: 'SUCCEEDED', finishedAt: at + 1 });
        }
      }
    });
    const counts = async (group: 'hour' | 'tool_name', from: number, before: number) => {
      const hours = { fromHour: first + from, beforeHour: first + before };
      const rows = await store.read.executionStatistics.grouped(env, group, { ...hours, connector: 'busy' });
      return Object.fromEntries(rows.map((row) => [row.group, row.total]));
    };
    const hours = (totals: Record<number, number>) =>
      Object.fromEntries(Object.entries(totals).map(([hour, total]) => [String(first + Number(hour)), total]));
    expect(await counts('hour', 0, 50)).to.deep.equal(hours({ 0: 12, 1: 24, 5: 12, 40: 12 }));
    expect(await counts('hour', 1, 40)).to.deep.equal(hours({ 1: 24, 5: 12 }));
    const byTool = await counts('tool_name', 0, 50);
    expect(Object.keys(byTool)).to.have.length(12);
    expect(new Set(Object.values(byTool))).to.deep.equal(new Set([5]));
  });

  it('have only rows of their environment in every slice, whose ids are between those of other environments', async () => {
    const { store, env, newId } = test;
    const other = await addEnvironment(store, newId, 'between.example');
    const made = Array.from({ length: 60 }, () => newId('whd'));
    const ids = made.filter((_id, at) => at % 2 === 0).reverse();
    const about = { endpointId: 'whk_1', eventId: 'evt_1', eventSeq: 1, eventType: 'tool.created', subjectId: 'crm' };
    await store.write(async (tx) => {
      for (const [i, id] of made.entries()) {
        const scope = i % 2 === 0 ? env : other;
        const eventType = i === 0 ? 'tool.deleted' : about.eventType;
        const times = { createdAt: NOW, nextAttemptAt: NOW };
        await tx.webhookDeliveries.insert(scope, { ...about, ...times, id, eventType, jobId: 'job_1' });
        await tx.jobs.insert(scope, job(newId('job'), scope, { kind: 'between' }));
      }
    });
    const { webhookDeliveries, jobs } = store.read;
    for (const filters of [{ state: 'PENDING' }, { endpointId: 'whk_1', state: 'PENDING' }] as const) {
      await expectList((page) => webhookDeliveries.list(env, filters, page), ids, JSON.stringify(filters));
    }
    const kept = ids.slice(0, -1);
    await expectList((page) => webhookDeliveries.list(env, { eventType: 'tool.created' }, page), kept, 'a type');
    const owners = async (read: Read<{ subjectId: string | null }>) =>
      (await read({ size: 100 })).rows.map(({ subjectId }) => subjectId);
    const own = Array(30).fill(env);
    expect(await owners((page) => jobs.page(env, { kind: 'between', isPending: true }, page))).to.deep.equal(own);
    expect(await owners((page) => jobs.page(env, { kind: 'between', state: 'WAITING' }, page))).to.deep.equal(own);
    expect(await owners((page) => jobs.pageOpen(env, { kind: 'between', state: 'WAITING' }, page))).to.deep.equal(own);
  });

  it('return the grants that match any combination of filters, and count no more than the limit', async () => {
    const { store, env, newId } = test;
    const other = await addEnvironment(store, newId, 'grants.example');
    const made = Array.from({ length: 80 }, (_, at) => ({
      id: newId('grt'),
      scope: at % 2 === 0 ? env : other,
      clientId: at < 50 ? 'ocl_1' : 'ocl_2',
      serverId: at % 6 < 3 ? 'conn_1' : 'conn_2',
    }));
    await store.write(async (tx) => {
      for (const { scope, id, ...row } of made) await tx.oauthGrants.insert(scope, oauthGrant(id, row));
    });
    for (const filters of [
      {},
      { clientId: 'ocl_1' },
      { clientId: 'ocl_2', serverId: 'conn_2' },
      { userId: 'user_1', clientId: 'ocl_1' },
    ]) {
      const matches = made.filter(
        (row) =>
          row.scope === env &&
          Object.entries(filters).every(([name, value]) => name === 'userId' || row[name as 'clientId'] === value),
      );
      const ids = matches.map(({ id }) => id).reverse();
      const isExact = await expectList(
        (page) => store.read.oauthGrants.list(env, filters, page),
        ids,
        JSON.stringify(filters),
      );
      expect(isExact).to.equal(ids.length <= LIMITS.counted);
      const some = await store.read.oauthGrants.some(env, filters, 5);
      expect(some.map(({ id }) => id)).to.deep.equal(ids.slice(0, 5));
    }
  });

  it('return all connections in order, read in batches', async () => {
    const { store, env, newId } = test;
    const ids = Array.from({ length: 600 }, () => newId('conn'));
    await store.write(async (tx) => {
      for (const id of ids) {
        await tx.connections.insert(
          env,
          connection(() => id, { keyId: id, providerKey: 'many' }),
        );
      }
    });
    const listed = await store.read.connections.listAll(env, { providerKeys: ['many'] });
    expect(listed.map(({ id }) => id)).to.deep.equal(ids.toReversed());
  });
});
