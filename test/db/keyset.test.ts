import { expect } from 'chai';
import fc from 'fast-check';
import type { AccountFilters, Page, PageRequest } from '../../db/store.ts';
import {
  account,
  addConnection,
  addEnvironment,
  connection,
  github,
  NOW,
  openTestStore,
  type TestStore,
} from './support.ts';

type Row = { id: string };
type Read = (page: PageRequest) => Promise<Page<Row>>;

/** Reads a list in one direction and runs a function between two pages. @returns the ids in the order of the list */
async function walk(read: Read, size: number, back: boolean, between: () => Promise<void>, from?: string) {
  const ids: string[] = [];
  let request: PageRequest = from === undefined ? { size } : { size, [back ? 'before' : 'after']: from };
  for (;;) {
    const page = await read(request);
    if (back) ids.unshift(...page.rows.map((row) => row.id));
    else ids.push(...page.rows.map((row) => row.id));
    const edge = back ? page.rows[0] : page.rows.at(-1);
    if (edge === undefined || !(back ? page.hasPrevious : page.hasNext)) return ids;
    request = { size, [back ? 'before' : 'after']: edge.id };
    await between();
  }
}

describe('keyset pages', () => {
  let test: TestStore;
  let connectionId: string;

  beforeEach(async () => {
    test = await openTestStore();
    connectionId = await github(test);
  });

  afterEach(() => test.end());

  const insert = async (count: number, over = {}) => {
    const rows = Array.from({ length: count }, () => account(test.newId, connectionId, over));
    await Promise.all(rows.map((row) => test.store.write((tx) => tx.accounts.insert(test.env, row))));
    return rows.map((row) => row.id);
  };
  const list = (filters: AccountFilters) => (page: PageRequest) =>
    test.store.read.accounts.list(test.env, filters, page);
  const search = (page: PageRequest) => test.store.read.accounts.search(test.env, { query: 'example' }, page);
  const nothing = async () => {};

  it('are ordered from the newest to the oldest, report whether there are more rows on both sides, and count all rows', async () => {
    const ids = (await insert(5)).reverse();
    const first = await list({})({ size: 2 });
    expect(first).to.deep.include({ hasNext: true, hasPrevious: false, total: 5 });
    expect(first.rows.map((row) => row.id)).to.deep.equal(ids.slice(0, 2));
    const second = await list({})({ size: 2, after: ids[1] });
    expect(second).to.deep.include({ hasNext: true, hasPrevious: true, total: 5 });
    expect(second.rows.map((row) => row.id)).to.deep.equal(ids.slice(2, 4));
    const last = await list({})({ size: 2, after: ids[3] });
    expect(last).to.deep.include({ hasNext: false, hasPrevious: true, total: 5 });
    const back = await list({})({ size: 2, before: ids[4] });
    expect(back.rows.map((row) => row.id)).to.deep.equal(ids.slice(2, 4));
    expect(back).to.deep.include({ hasNext: true, hasPrevious: true });
    const start = await list({})({ size: 2, before: ids[2] });
    expect(start.rows.map((row) => row.id)).to.deep.equal(ids.slice(0, 2));
    expect(start).to.deep.include({ hasNext: true, hasPrevious: false });
  });

  it('report no further row when the last page is exactly full', async () => {
    await insert(4);
    const all = await walk(list({}), 2, false, nothing);
    expect(all).to.have.length(4);
    expect(await list({})({ size: 4 })).to.include({ hasNext: false, hasPrevious: false });
  });

  it('continue after a cursor whose row was removed', async () => {
    const ids = (await insert(5)).reverse();
    await test.store.write((tx) => tx.accounts.remove(test.env, ids[2] ?? '', NOW));
    const after = await list({})({ size: 2, after: ids[2] });
    expect(after.rows.map((row) => row.id)).to.deep.equal(ids.slice(3));
    const before = await search({ size: 2, before: ids[2] });
    expect(before.rows.map((row) => row.id)).to.deep.equal(ids.slice(0, 2));
  });

  it('are empty after a cursor of another environment', async () => {
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    const foreign = await addConnection(test.store, other, connection(test.newId));
    const row = account(test.newId, foreign);
    await test.store.write((tx) => tx.accounts.insert(other, row));
    await insert(3);
    for (const after of [row.id, 'ca_unknown']) {
      expect(await list({})({ size: 2, after })).to.deep.equal({
        rows: [],
        hasNext: false,
        hasPrevious: false,
        total: 3,
        totalIsExact: true,
      });
    }
  });

  it('contain rows of one environment only', async () => {
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    const foreign = await addConnection(test.store, other, connection(test.newId));
    const mixed = Array.from({ length: 20 }, (_, i) => i).map(async (i) => {
      const env = i % 2 === 0 ? test.env : other;
      const row = account(test.newId, i % 2 === 0 ? connectionId : foreign);
      await test.store.write((tx) => tx.accounts.insert(env, row));
      return { env, id: row.id };
    });
    const rows = await Promise.all(mixed);
    for (const env of [test.env, other]) {
      const own = rows.filter((row) => row.env === env).map((row) => row.id);
      for (const filters of [{}, { status: 'ACTIVE' as const }, { provider: 'github' }, { userId: 'user_1' }]) {
        const read: Read = (page) => test.store.read.accounts.list(env, filters, page);
        expect(await walk(read, 3, false, nothing)).to.deep.equal(own.toReversed());
        expect((await read({ size: 1 })).total).to.equal(10);
      }
      const read: Read = (page) => test.store.read.accounts.search(env, { query: 'example' }, page);
      expect(await walk(read, 3, false, nothing)).to.deep.equal(own.toReversed());
      expect((await read({ size: 1 })).total).to.equal(10);
    }
  });

  it('contain rows of one environment only in both directions, regardless of which is older', async () => {
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    const own = new Map<string, string[]>([test.env, other].map((env) => [env, []]));
    for (let i = 0; i < 12; i++) {
      const env = i % 2 === 0 ? test.env : other;
      const [execution, entry] = [test.newId('exec'), test.newId('aud')];
      await test.store.write(async (tx) => {
        const about = {
          accountId: 'ca_1',
          connector: 'github',
          toolName: 'tool',
          agentRunId: 'run_1',
          apiClientId: 'cli_1',
          instance: 0,
        };
        await tx.executions.insert(env, { ...about, id: execution, startedAt: NOW });
        const facts = { at: NOW, actor: 'cli_1', action: 'done', subjectId: null, requestId: null };
        await tx.audit.append(env, { ...facts, id: entry });
      });
      own.get(env)?.unshift(execution, entry);
    }
    for (const env of [test.env, other]) {
      const lists: [prefix: string, read: Read][] = [
        ['exec_', (page) => test.store.read.executions.list(env, {}, page)],
        ['exec_', (page) => test.store.read.executions.list(env, { accountId: 'ca_1' }, page)],
        ['exec_', (page) => test.store.read.executions.list(env, { agentRunId: 'run_1', status: 'STARTED' }, page)],
        ['aud_', (page) => test.store.read.audit.list(env, page)],
      ];
      for (const [prefix, read] of lists) {
        const ids = own.get(env)?.filter((id) => id.startsWith(prefix)) ?? [];
        expect(await walk(read, 4, false, nothing)).to.deep.equal(ids);
        expect(await walk(read, 4, true, nothing, ids.at(-1))).to.deep.equal(ids.slice(0, -1));
        expect(await read({ size: 10, before: ids[1] })).to.include({ hasPrevious: false, hasNext: true, total: 6 });
        expect(await read({ size: 10, after: ids[4] })).to.include({ hasPrevious: true, hasNext: false, total: 6 });
      }
    }
  });

  it('contain each stable row exactly once, in both directions, under inserts and removals (C8)', async () => {
    const filters: AccountFilters[] = [{}, { userId: 'user_1' }, { connector: 'github' }, { status: 'ACTIVE' }];
    const readers = [...filters.map((filter) => list(filter)), search];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(readers.length - 1),
        fc.array(fc.record({ insert: fc.nat(3), remove: fc.array(fc.nat(20), { maxLength: 3 }) }), { maxLength: 12 }),
        async (count, size, which, steps) => {
          const present = (await walk(list({}), 50, false, nothing)).reverse();
          await test.store.write(async (tx) => {
            for (const id of present) await tx.accounts.remove(test.env, id, NOW);
          });
          const stable = new Set(await insert(count));
          const live = [...stable];
          const read = readers[which] as Read;
          const script = steps.values();
          const between = async () => {
            const step = script.next().value;
            if (step === undefined) return;
            live.push(...(await insert(step.insert)));
            for (const place of step.remove) {
              const [id] = live.splice(place % Math.max(live.length, 1), 1);
              if (id === undefined) continue;
              stable.delete(id);
              await test.store.write((tx) => tx.accounts.remove(test.env, id, NOW));
            }
          };
          const before = new Set(stable);
          const forward = await walk(read, size, false, between);
          expect(new Set(forward)).to.have.property('size', forward.length);
          expect(forward.filter((id) => stable.has(id))).to.deep.equal([...stable].toReversed());
          expect([...before].filter((id) => !stable.has(id) || forward.includes(id))).to.have.length(before.size);

          const oldest = live[0];
          if (oldest === undefined) return;
          const steady = new Set(live.slice(1));
          const backward = await walk(read, size, true, between, oldest);
          expect(backward).to.have.length(new Set(backward).size);
          const expected = [...steady].filter((id) => live.includes(id)).toReversed();
          expect(backward.filter((id) => expected.includes(id))).to.deep.equal(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('work in both directions for the lists that are ordered by id', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      ids.unshift(
        await addConnection(test.store, test.env, connection(test.newId, { keyId: `key-${i}`, type: 'API_KEY' })),
      );
    }
    const read: Read = (page) => test.store.read.connections.list(test.env, { types: ['API_KEY'] }, page);
    expect(await walk(read, 3, false, nothing)).to.deep.equal(ids);
    expect(await walk(read, 3, true, nothing, ids[6])).to.deep.equal(ids.slice(0, 6));
    expect((await read({ size: 2 })).total).to.equal(7);
  });
});
