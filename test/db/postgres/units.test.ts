import { expect } from 'chai';
import { openStore } from '../../../db/open-store.ts';
import { createCommitOutcomes } from '../../../db/postgres/commit-outcomes.ts';
import { translateError } from '../../../db/postgres/errors.ts';
import { readOnlyOutside } from '../../../db/postgres/read-only-outside.ts';
import { createReaders, type Readers } from '../../../db/postgres/readers.ts';
import { type EpochSession, withEpoch } from '../../../db/postgres/server-epoch.ts';
import { openSession, type Session } from '../../../db/postgres/session.ts';
import { createWriter, type Writer } from '../../../db/postgres/writer.ts';
import { AUDIT_HEAD, type AuditHead, type Store } from '../../../db/store.ts';
import { isAvailable, runIn, socketOfTests } from '../../support/postgres/databases.ts';
import { type CuttingProxy, startProxy } from '../../support/postgres/proxy.ts';
import { account, failure, github, NOW, openSharedTestStore, type TestStore } from '../support.ts';

/** Returns the lane (the number, 0 to 1023) of the audit chain that starts at this `seq`: see 0001_initial.sql. */
const laneOf = (start: number) => (start / 2 ** 30) % 1024;

const ENDS_CONNECTIONS =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()';

describe('units on PostgreSQL', () => {
  if (!isAvailable()) return;
  let test: TestStore;
  let connectionId: string;
  let name: string;

  beforeEach(async () => {
    test = await openSharedTestStore({ connections: { writers: 8 } });
    connectionId = await github(test);
    name = new URL(test.database.location).pathname.slice(1);
  });

  afterEach(() => test.end());

  const added = async (): Promise<string> => {
    const row = account(test.newId, connectionId);
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    return row.id;
  };
  const entry = (action: string) => {
    const whose = { actor: 'cli_1', subjectId: null, requestId: null };
    return { id: test.newId('aud'), at: NOW, action, ...whose };
  };
  const total = async () => (await test.store.read.accounts.list(test.env, {}, { size: 1 })).total;

  it('run again after another transaction has changed what they read', async () => {
    const id = await added();
    let runs = 0;
    const changed = await test.store.write(async (tx) => {
      const row = await tx.accounts.get(test.env, id);
      runs++;
      if (runs === 1) {
        let isDone = false;
        const other = test.store.write((own) =>
          own.accounts.update(test.env, id, 1, { statusReason: 'other', updatedAt: NOW }),
        );
        void other.then(() => {
          isDone = true;
        });
        while (!isDone) await tx.yieldToEventLoop();
      }
      return await tx.accounts.update(test.env, id, row?.version ?? 0, { status: 'EXPIRED', updatedAt: NOW });
    });
    const after = await test.store.read.accounts.get(test.env, id);
    expect({ changed, runs, version: after?.version, reason: after?.statusReason }).to.deep.equal({
      changed: true,
      runs: 2,
      version: 3,
      reason: 'other',
    });
  });

  it('read no small table completely, also with plans that were prepared for units without isolation', async () => {
    await test.store.close();
    test.store = await test.database.open({ connections: { writers: 1 } });
    runIn(name, 'analyze');
    // The sixth execution of a prepared statement makes the plan that all later ones use.
    for (let times = 0; times < 8; times++) await test.store.note((tx) => tx.audit.append(test.env, entry('noted')));
    const complete = await test.store.write(async (tx) => {
      await tx.audit.append(test.env, entry('written'));
      await tx.environments.get(test.env);
      return runIn(
        name,
        `select relation::regclass from pg_locks where mode = 'SIReadLock' and page is null
           and relation in ('environments'::regclass, 'audit_heads'::regclass)`,
      );
    });
    expect(complete).to.equal('');
  });

  it('end even if other units keep changing what they read', async () => {
    const id = await added();
    let changes = 0;
    let isOver = false;
    const changeOnce = async () => {
      await test.store.write(async (tx) => {
        const version = (await tx.accounts.get(test.env, id))?.version ?? 0;
        await tx.accounts.update(test.env, id, version, { updatedAt: NOW });
      });
      changes++;
    };
    const changeUntilOver = async () => {
      while (!isOver) await changeOnce();
    };
    const others: Promise<void>[] = [];
    let runs = 0;
    const change = test.store.write(async (tx) => {
      runs++;
      const row = await tx.accounts.get(test.env, id);
      // The first run waits until another unit, which meets no conflict, has committed. Later runs wait for a limited
      // time only, because all other units may be waiting for this one.
      const longest = runs === 1 ? Number.POSITIVE_INFINITY : 2000;
      if (runs === 1) others.push(changeOnce());
      const before = changes;
      for (let turns = 0; turns < longest && changes === before; turns++) await tx.yieldToEventLoop();
      if (runs === 1) others.push(...Array.from({ length: 4 }, changeUntilOver));
      return await tx.accounts.update(test.env, id, row?.version ?? 0, { status: 'EXPIRED', updatedAt: NOW });
    });
    const changed = await change.finally(() => {
      isOver = true;
    });
    await Promise.all(others);
    expect(changed).to.equal(true);
    expect(runs).to.be.above(1);
  });

  it('do not conflict with each other if they are not isolated, when they change neighbouring rows', async () => {
    const ids = await Promise.all(Array.from({ length: 32 }, added));
    let runs = 0;
    await Promise.all(
      ids.map((id) =>
        test.store.write(
          async (tx) => {
            runs++;
            await tx.accounts.update(test.env, id, 1, { status: 'EXPIRED', updatedAt: NOW });
          },
          { isolated: false },
        ),
      ),
    );
    expect(runs).to.equal(ids.length);
    const rows = await test.store.read.accounts.list(test.env, { status: 'EXPIRED' }, { size: 1 });
    expect(rows.total).to.equal(ids.length);
  });

  it('are rolled back if they continue after a failed statement', async () => {
    const row = account(test.newId, connectionId);
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const twin = { ...account(test.newId, connectionId), identifier: row.identifier };
    const error = await failure(
      test.store.write(async (tx) => {
        await tx.accounts.insert(test.env, account(test.newId, connectionId));
        await failure(tx.accounts.insert(test.env, twin));
      }),
    );
    expect(error.name).to.equal('UniqueError');
    expect(await total()).to.equal(1);
  });

  it('are rolled back when they wait for something other than their transaction', async () => {
    const never = test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, account(test.newId, connectionId));
      await new Promise(() => {});
    });
    expect((await failure(never)).message).to.include('held over I/O');
    expect(await total()).to.equal(0);
  });

  it('do not affect the next transaction when a call was not awaited', async () => {
    const rows = Array.from({ length: 3 }, () => account(test.newId, connectionId));
    const undone = test.store.write(async (tx) => {
      const insertAll = async () => {
        for (const row of rows) await tx.accounts.insert(test.env, row);
      };
      void insertAll().catch(() => {});
      await tx.accounts.get(test.env, 'ca_none');
      throw new Error('undone');
    });
    await failure(undone);
    await Promise.all(Array.from({ length: 16 }, added));
    expect(await total()).to.equal(16);
  });

  it('have exact totals after the rows of counts were merged', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, added));
    for (const id of ids.slice(0, 5)) await test.store.write((tx) => tx.accounts.remove(test.env, id, NOW));
    const rows = () => Number(runIn(name, 'select count(*) from account_counts'));
    const before = rows();
    await test.store.fold?.();
    expect(before).to.be.above(rows());
    expect(rows()).to.equal(1);
    expect(await total()).to.equal(15);
  });

  it('append to several chains of the audit log, each of which is valid', async () => {
    const units = Array.from({ length: 100 }, (_, place) =>
      test.store.write((tx) => tx.audit.append(test.env, entry(`action.${place}`))),
    );
    await Promise.all(units);
    expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: 100 });
    expect((await test.store.read.audit.list(test.env, { size: 9 })).total).to.equal(100);
    expect((await test.store.read.audit.chains(test.env)).length).to.be.within(2, 8);
    runIn(name, 'delete from audit_log where seq = (select max(seq) from audit_log)');
    expect(await test.store.read.audit.verifyChain(test.env)).to.have.property('intact', false);
  });

  it('of several instances begin with different chains of the audit log, so that they do not conflict after a start', async () => {
    let runs = 0;
    const append = async (store: Store, place: number) =>
      store.write(async (tx) => {
        runs++;
        await tx.audit.append(test.env, entry(`action.${place}`));
      });
    /** Lets each connection of new instances append once, at the same time. @returns the number of runs */
    const runsOf = async (places: readonly number[]) => {
      const stores = await Promise.all(places.map(() => test.database.open({ connections: { writers: 8 } })));
      for (const [number, store] of stores.entries())
        store.fence(await test.register(test.newId('inst')), places[number] as number);
      runs = 0;
      await Promise.all(stores.flatMap((store) => Array.from({ length: 8 }, (_, place) => append(store, place))));
      await Promise.all(stores.map((store) => store.close()));
      return runs;
    };
    const places = [0, 1, 2];
    // The first time, all of these chains are new.
    expect(await runsOf(places)).to.equal(24);
    expect(await runsOf(places)).to.equal(24);
    const used = (await test.store.read.audit.chains(test.env)).map(({ start }) => laneOf(start));
    expect(used).to.have.members(Array.from({ length: 24 }, (_, lane) => lane));
    // The negative control: instances with the same place begin with the same chains, and conflict where their units
    // overlap in time.
    let same = 24;
    for (let round = 0; round < 20 && same === 24; round++) same = await runsOf([0, 0, 0]);
    expect(same).to.be.above(24);
  });

  it('notice that a chain was deleted with the record of its end, if the log has named that end', async () => {
    const append = (action: string, details = {}) =>
      test.store.write((tx) => tx.audit.append(test.env, { ...entry(action), details }));
    await Promise.all(Array.from({ length: 30 }, (_, place) => append(`action.${place}`)));
    const heads = (await test.store.read.audit.chains(test.env)).map(({ head }) => head as AuditHead);
    const named = heads.map(({ seq, hash }) => ({ seq, hash: hash.toString('hex') }));
    await append(AUDIT_HEAD, { heads: named });
    expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: 31 });
    // Chooses a chain that still has the named end: not the one that the record with the names was appended to.
    const after = (await test.store.read.audit.chains(test.env)).map(({ head }) => head?.seq);
    const victim = heads.find(({ seq }) => after.includes(seq)) as AuditHead;
    const chain = Math.floor(victim.seq / 2 ** 30) * 2 ** 30;
    runIn(name, 'drop trigger audit_log_final on audit_log');
    const within = `seq > ${chain} and seq < ${chain + 2 ** 30}`;
    runIn(name, `delete from audit_log where ${within}; delete from audit_heads where ${within}`);
    const verdict = await test.store.read.audit.verifyChain(test.env);
    expect(verdict).to.deep.equal({ intact: false, brokenAt: victim.seq });
  });

  it('begin an audit chain again that a crash of the server has undone', async () => {
    await test.store.close();
    test.store = await test.database.open({ connections: { writers: 1 } });
    for (const action of ['first', 'second']) await test.store.note((tx) => tx.audit.append(test.env, entry(action)));
    // Removes everything, as a crash removes commits that were not durable.
    runIn(name, 'delete from audit_log; delete from audit_heads; update server_lives set life = gen_random_uuid()');
    runIn(name, ENDS_CONNECTIONS);
    const append = () => test.store.write((tx) => tx.audit.append(test.env, entry('third')));
    await append().catch(append);
    expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: 1 });
  });

  describe('of a connection that fails at one statement', () => {
    let readers: Readers;
    let session: EpochSession;
    /** Called with each statement of the connection. */
    let send: Session['query'];
    let writer: Writer;

    beforeEach(async () => {
      const open = () => openSession(test.database.location);
      readers = createReaders(open, 1);
      session = await readOnlyOutside(withEpoch(open))();
      const query: Session['query'] = (statement) => send(statement);
      writer = createWriter({
        connection: {
          session: async () => ({ ...session, isOpen: () => session.isOpen(), query }),
          waiting: () => 0,
          close: () => session.close(),
        },
        ...{ place: 7, prepare: true, outcomes: createCommitOutcomes(readers), readers, report: () => {} },
      });
    });

    afterEach(async () => {
      await writer.close();
      await readers.close();
    });

    const create = (isolated: boolean) =>
      writer.run(
        async (tx) => {
          await tx.accounts.insert(test.env, account(test.newId, connectionId));
          await tx.audit.append(test.env, entry('created'));
        },
        { isolated, alone: false, again: false },
      );

    it('change nothing if their transaction could not begin', async function () {
      // The setting that prevents writes outside of transactions is not used for connections through a pooler.
      if (!(await session.isDirect())) return this.skip();
      // Makes `begin` fail, as if an operator had canceled the statement.
      send = (statement) => session.query(statement.text.startsWith('begin') ? { text: 'select 1 / 0' } : statement);
      for (const isolated of [true, false]) {
        expect((await failure(create(isolated))).message).to.include('division by zero');
      }
      expect(await total()).to.equal(0);
      expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: 0 });
    });

    it('are committed once if the reply of the commit does not arrive in time', async () => {
      send = async (statement) => {
        const reply = session.query(statement);
        if (statement.text !== 'commit') return await reply;
        await reply;
        throw translateError(new Error('Query read timeout'));
      };
      await create(true);
      expect(await total()).to.equal(1);
      expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: 1 });
    });
  });

  it('work again after the server has ended all connections', async () => {
    await added();
    runIn(name, ENDS_CONNECTIONS);
    const outcomes = await Promise.allSettled([added(), added()]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason.name).to.equal('StorageError');
    }
    const before = await total().catch(() => total());
    await added();
    expect(await total()).to.equal(before + 1);
  });

  describe('units whose connection is lost at the commit', () => {
    let proxy: CuttingProxy;
    let store: Store;

    beforeEach(async () => {
      proxy = await startProxy(socketOfTests());
      store = await openStore({ location: proxy.url(name), now: () => NOW });
    });

    afterEach(async () => {
      await store.close();
      await proxy.close();
    });

    for (const cut of ['before', 'after'] as const) {
      it(`are committed exactly once when it is lost ${cut} the server receives the commit`, async () => {
        let runs = 0;
        proxy.cutAt('commit\0', cut);
        await store.write(async (tx) => {
          runs++;
          await tx.accounts.insert(test.env, account(test.newId, connectionId));
        });
        expect({ runs, total: await total() }).to.deep.equal({ runs: cut === 'before' ? 2 : 1, total: 1 });
      });
    }
  });
});
