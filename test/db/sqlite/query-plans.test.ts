import Database from 'better-sqlite3';
import { expect } from 'chai';
import type { AccountFilters, ExecutionFilters } from '../../../db/store.ts';
import { account, addKeyChecks, github, job, laneOf, NOW, openTestStore } from '../support.ts';

/** Limits so small that a few hundred rows take many slices (ranges of rows that are read one after the other). */
const LIMITS = { slice: 7, counted: 20, countedSlices: 5 };

describe('F6: the statements of lists that grow without limit', () => {
  const TABLES = /^SCAN (accounts|executions|jobs|periodic_jobs|stored_contents|idempotency_keys|audit_log)\b/;
  /** This index only has the keys of running requests. */
  const RUNNING_KEYS = 'SCAN idempotency_keys USING INDEX idempotency_keys_running';

  /** Returns the statements that are prepared while a function runs. */
  async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
    const { prototype } = Database as unknown as { prototype: { prepare(text: string): unknown } };
    const { prepare } = prototype;
    const texts: string[] = [];
    prototype.prepare = function record(text) {
      texts.push(text);
      return prepare.call(this, text);
    };
    try {
      await run();
    } finally {
      prototype.prepare = prepare;
    }
    return texts.filter((text) => /^(select|delete|update|insert)\b/i.test(text));
  }

  function planOf(db: Database.Database, text: string): { detail: string }[] {
    const values = Array.from(text.matchAll(/\?/g), () => null);
    return db.prepare(`explain query plan ${text}`).all(...values) as { detail: string }[];
  }

  const subsets = <T extends object>(filters: T): Partial<T>[] => {
    const names = Object.keys(filters) as (keyof T)[];
    return Array.from({ length: 2 ** names.length }, (_, set) =>
      Object.fromEntries(names.filter((_name, bit) => set & (1 << bit)).map((name) => [name, filters[name]])),
    ) as Partial<T>[];
  };

  it('use an index or a range of the table, for every set of filters, and sort nothing', async () => {
    const test = await openTestStore({ listLimits: LIMITS });
    const { store, env, newId, file } = test;
    await addKeyChecks(store, 'kek_1');
    const connectionId = await github(test);
    const rows = Array.from({ length: 3 }, () =>
      account(newId, connectionId, { organizationId: 'org', userId: 'user' }),
    );
    await store.write(async (tx) => {
      for (const row of rows) {
        await tx.accounts.insert(env, row);
        await tx.jobs.insert(env, job(newId('job'), row.id));
        const execution = { id: newId('exec'), accountId: 'ca_1', agentRunId: 'run', apiClientId: 'cli', instance: 0 };
        await tx.executions.insert(env, { ...execution, connector: 'github', toolName: 'proxy', startedAt: NOW });
      }
    });
    const executionFilters: ExecutionFilters = {
      agentRunId: 'run',
      accountId: 'ca_1',
      toolName: 'proxy',
      connector: 'github',
      status: 'STARTED',
      startedFrom: NOW,
      startedBefore: NOW + 1,
    };
    const accountFilters: AccountFilters = {
      userId: 'user',
      identifier: rows[0]?.identifier as string,
      organizationId: 'org',
      connectionId,
      provider: 'github',
      status: 'ACTIVE',
    };
    const first = (await store.read.executions.list(env, {}, { size: 1 })).rows[0]?.id as string;
    const middle = rows[1]?.id as string;
    const texts = await statementsOf(async () => {
      for (const filters of subsets(executionFilters)) {
        await store.read.executions.list(env, filters, { size: 1 });
        await store.read.executions.list(env, filters, { size: 1, after: first });
        await store.read.executions.list(env, filters, { size: 1, before: first });
      }
      for (const filters of subsets(accountFilters)) {
        await store.read.accounts.list(env, filters, { size: 1 });
        await store.read.accounts.list(env, filters, { size: 1, after: middle });
        await store.read.accounts.list(env, filters, { size: 1, before: middle });
      }
      for (const query of ['example', 'github', 'nothing']) {
        await store.read.accounts.search(env, { query }, { size: 1, after: middle });
        await store.read.accounts.search(env, { query, connectionId }, { size: 1 });
      }
      const kind = 'revocation';
      await store.read.jobs.page(env, { kind, isPending: true, subjectId: middle }, { size: 1 });
      await store.read.jobs.page(env, { kind, result: 'REVOKED' }, { size: 1 });
      await store.read.jobs.page(env, { kind }, { size: 1 });
      for (const filters of subsets({ kind, state: 'FAILED' as const })) {
        await store.read.jobs.pageOpen(env, filters, { size: 1 });
        await store.read.jobs.pageOpen(env, filters, { size: 1, after: middle });
        await store.read.jobs.pageOpen(env, filters, { size: 1, before: middle });
      }
      const lane = await store.read.jobQueue.nextLane(kind, undefined);
      await store.read.jobQueue.nextLane(kind, lane);
      await store.read.jobQueue.abandoned(10);
      await store.read.jobQueue.owned(1);
      for (const state of ['WAITING', 'RUNNING', 'FAILED'] as const) await store.read.jobQueue.tally(kind, state, 10);
      await store.read.storedContents.total(env, 'file');
      await store.read.connections.countAccounts(env, connectionId);
      await store.read.instances.unfinished(1);
      await store.read.instances.claimedKeys(1);
      await store.write(async (tx) => {
        await tx.executions.sweep(env, NOW, 10);
        await tx.executions.markAbandoned(env, NOW);
        await tx.idempotencyKeys.sweep(env, NOW, { rows: 10, bytes: 10 });
        await tx.idempotencyKeys.releaseAbandoned(env);
        await tx.storedContents.sweep(env, NOW, { rows: 10, bytes: 10 });
        await tx.storedContents.sweepStoredBefore(env, 'execution', NOW, { rows: 10, bytes: 10 });
        await tx.jobQueue.claim({ ...laneOf(env), owner: 1, now: NOW, limit: 1 });
        await tx.jobs.purge(env, NOW, 10);
        await tx.jobs.wipe(env, NOW, 10);
        await tx.authFlows.sweep(env, NOW, 10);
        await tx.authRequests.purge(env, NOW, 10);
      });
    });
    expect(texts.length).to.be.above(150);
    const db = new Database(file, { readonly: true });
    const wrong = texts.flatMap((text) => {
      const bad = planOf(db, text).filter(
        ({ detail }) => (TABLES.test(detail) && detail !== RUNNING_KEYS) || /TEMP B-TREE/.test(detail),
      );
      return bad.map(({ detail }) => `${detail}: ${text}`);
    });
    db.close();
    await test.end();
    expect(wrong).to.deep.equal([]);
  });

  it('have no parameter alone as their limit, because SQLite would prepare them again for each value', async () => {
    const test = await openTestStore();
    const key = { connectionId: await github(test), identifier: 'ada', organizationId: 'org', userId: 'user' };
    const texts = await statementsOf(() => test.store.read.accounts.byKey(test.env, key));
    await test.end();
    const limits = texts.flatMap((text) => / limit .*$/.exec(text) ?? []);
    expect(limits).to.deep.equal([' limit cast(? as integer)']);
  });

  it('skip a lane of jobs by the whole index, and not by reading each waiting job', async () => {
    const test = await openTestStore();
    const [text = ''] = (
      await statementsOf(async () => {
        await test.store.read.jobQueue.nextLane('revocation', laneOf(test.env));
      })
    ).filter((statement) => statement.includes('"lane"'));
    const db = new Database(test.file, { readonly: true });
    const details = planOf(db, text).map(({ detail }) => detail);
    db.close();
    await test.end();
    expect(details.join()).to.include('(kind=? AND (environment_id,lane,run_at)>(?,?,?))');
  });

  it('find the deliveries of an event or of an endpoint by their index, also to count them', async () => {
    const test = await openTestStore({ listLimits: LIMITS });
    const { store, env, file } = test;
    const filters = { eventId: 'evt_1', endpointId: 'whk_1', state: 'FAILED' as const };
    const texts = await statementsOf(async () => {
      for (const some of subsets(filters)) {
        await store.read.webhookDeliveries.list(env, some, { size: 1 });
        await store.read.webhookDeliveries.list(env, some, { size: 1, after: 'whd_2' });
        await store.read.webhookDeliveries.list(env, some, { size: 1, before: 'whd_2' });
      }
    });
    const db = new Database(file, { readonly: true });
    const wrong = texts.flatMap((text) => {
      const details = planOf(db, text).map(({ detail }) => detail);
      const [, lead] = /[ (]"webhook_deliveries"."(event|endpoint)_id" = /.exec(text) ?? [];
      return lead === undefined || details.some((detail) => detail.includes(`webhook_deliveries_${lead} `))
        ? []
        : [`${details}: ${text}`];
    });
    db.close();
    await test.end();
    expect(texts.length).to.be.above(10);
    expect(wrong).to.deep.equal([]);
  });

  it('filter deliveries by type and state in the index, without reading those that do not match', async () => {
    const test = await openTestStore({ listLimits: LIMITS });
    const { store, env, newId, file } = test;
    const about = { endpointId: 'whk_1', eventId: 'evt_1', eventSeq: 1, eventType: 'tool.created', subjectId: 'crm' };
    const ids = Array.from({ length: 30 }, () => newId('whd'));
    await store.write(async (tx) => {
      for (const id of ids)
        await tx.webhookDeliveries.insert(env, { ...about, id, jobId: 'job_1', createdAt: NOW, nextAttemptAt: NOW });
    });
    const filters = { eventType: 'tool.created' as const, endpointId: 'whk_1', state: 'FAILED' as const };
    const texts = await statementsOf(async () => {
      for (const some of subsets(filters)) await store.read.webhookDeliveries.list(env, some, { size: 1 });
    });
    const db = new Database(file, { readonly: true });
    const filtered = texts.filter((text) => /"(event_type|endpoint_id|state)" = /.test(text));
    const wrong = filtered.filter((text) => {
      const details = planOf(db, text).map(({ detail }) => detail);
      const index = /"endpoint_id" = /.test(text) ? 'webhook_deliveries_endpoint' : 'webhook_deliveries_list';
      // A statement that returns rows reads the matching rows. A count and the end of a slice only read the index.
      const expected = /"last_attempt"/.test(text) ? `USING INDEX ${index}` : `USING COVERING INDEX ${index}`;
      return !details.some((detail) => detail.includes(expected));
    });
    db.close();
    await test.end();
    expect(filtered.length).to.be.above(20);
    expect(wrong).to.deep.equal([]);
  });

  it('find the events of a subject or of a type by their index, also to count them', async () => {
    const test = await openTestStore({ listLimits: LIMITS });
    const { store, env, newId, file } = test;
    const ids = Array.from({ length: 3 }, () => newId('evt'));
    await store.write(async (tx) => {
      for (const id of ids)
        await tx.events.append(env, { id, type: 'tools.changed', subjectId: 'crm', body: '{}', createdAt: NOW });
    });
    const filters = { subjectId: 'crm', type: 'tools.changed', createdFrom: NOW, createdBefore: NOW + 1 };
    const texts = await statementsOf(async () => {
      for (const some of subsets(filters)) {
        await store.read.events.list(env, some, { size: 1 });
        await store.read.events.list(env, some, { size: 1, after: ids[1] as string });
        await store.read.events.list(env, some, { size: 1, before: ids[1] as string });
      }
    });
    const db = new Database(file, { readonly: true });
    const wrong = texts.flatMap((text) => {
      const details = planOf(db, text).map(({ detail }) => detail);
      const index = / "events"."subject_id" = /.test(text) ? 'events_subject' : 'events_type';
      const isFiltered = / "events"."(subject_id|type)" = /.test(text);
      const isBad =
        details.some((detail) => /TEMP B-TREE|^SCAN events\b/.test(detail)) ||
        (isFiltered && !details.some((detail) => detail.includes(index)));
      return isBad ? [`${details.join(', ')}: ${text}`] : [];
    });
    db.close();
    await test.end();
    expect(texts.filter((text) => text.includes('"subject_id" = ')).length).to.be.above(20);
    expect(wrong).to.deep.equal([]);
  });
});
