import { expect } from 'chai';
import { openStore } from '../../../db/open-store.ts';
import { createCommitOutcomes } from '../../../db/postgres/commit-outcomes.ts';
import { createReaders, type Readers } from '../../../db/postgres/readers.ts';
import { withEpoch } from '../../../db/postgres/server-epoch.ts';
import { openSession, type Session } from '../../../db/postgres/session.ts';
import { createWriter, type Unit, type Writer } from '../../../db/postgres/writer.ts';
import { isAvailable, runIn, socketOfTests } from '../../support/postgres/databases.ts';
import { startProxy } from '../../support/postgres/proxy.ts';
import { account, failure, github, NOW, openSharedTestStore, type TestStore } from '../support.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A connection that sends all statements of one event-loop turn together, and counts its waits for replies. */
function counted(session: Session): { session: Session; trips: () => number } {
  let trips = 0;
  let sending: Promise<unknown> | undefined;
  let sent: Promise<unknown>[] = [];
  const query: Session['query'] = async (statement) => {
    sending ??= turn().then(async () => {
      trips++;
      const replies = sent;
      [sending, sent] = [undefined, []];
      await Promise.allSettled(replies);
    });
    const together = sending;
    const reply = session.query(statement);
    reply.catch(() => {});
    sent.push(reply);
    await together;
    return await reply;
  };
  return { session: { ...session, isOpen: () => session.isOpen(), query }, trips: () => trips };
}

describe('units on PostgreSQL that decide nothing by what they read', () => {
  if (!isAvailable()) return;
  let test: TestStore;
  let name: string;

  beforeEach(async () => {
    test = await openSharedTestStore({ connections: { writers: 8 } });
    name = new URL(test.database.location).pathname.slice(1);
  });

  afterEach(() => test.end());

  const entry = (action: string) => {
    const whose = { actor: 'cli_1', subjectId: null, requestId: null };
    return { id: test.newId('aud'), at: NOW, action, ...whose };
  };
  const append =
    (action: string): Unit<void> =>
    (tx) =>
      tx.audit.append(test.env, entry(action));
  const transactions = () => Number(runIn(name, 'select count(distinct xmin::text) from audit_log'));
  const verify = () => test.store.read.audit.verifyChain(test.env);

  it('share a transaction if they are called in the same turn', async () => {
    const notes = Array.from({ length: 20 }, (_, place) => test.store.note(append(`noted.${place}`)));
    const writes = Array.from({ length: 20 }, (_, place) =>
      test.store.write(append(`written.${place}`), { isolated: false }),
    );
    await Promise.all([...notes, ...writes]);
    expect(transactions()).to.equal(1);
    expect(await verify()).to.deep.equal({ intact: true, rows: 40 });
    // The negative control: isolated units never share a transaction.
    await Promise.all(Array.from({ length: 3 }, (_, place) => test.store.write(append(`isolated.${place}`))));
    expect(transactions()).to.equal(4);
  });

  it('are rolled back one by one if one of them throws', async () => {
    let effects = 0;
    const unit = (place: number) =>
      test.store.write(
        async (tx) => {
          await append(`written.${place}`)(tx);
          tx.afterCommit(() => effects++);
          if (place === 3) throw new Error('undone');
          return place;
        },
        { isolated: false },
      );
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, (_, place) => unit(place)));
    const values = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message,
    );
    expect(values).to.deep.equal([0, 1, 2, 'undone', 4, 5]);
    expect(effects).to.equal(5);
    expect(await verify()).to.deep.equal({ intact: true, rows: 5 });
  });

  it('are rolled back one by one if the server rejects a statement of one of them', async () => {
    const connectionId = await github(test);
    const row = account(test.newId, connectionId);
    const twin = { ...account(test.newId, connectionId), identifier: row.identifier };
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const others = [append('first'), append('second')].map((unit) => test.store.write(unit, { isolated: false }));
    const rejected = test.store.write((tx) => tx.accounts.insert(test.env, twin), { isolated: false });
    expect((await failure(rejected)).name).to.equal('UniqueError');
    await Promise.all(others);
    expect(await verify()).to.deep.equal({ intact: true, rows: 2 });
  });

  it('are rejected alone when they wait for something other than their transaction', async () => {
    const others = [append('first'), append('second')].map((unit) => test.store.note(unit));
    const never = test.store.note(() => new Promise(() => {}));
    expect((await failure(never)).message).to.include('held over I/O');
    await Promise.all(others);
    expect(await verify()).to.deep.equal({ intact: true, rows: 2 });
  });

  it('later units do not wait for a unit that waits for a lock', async () => {
    const row = account(test.newId, await github(test));
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const touch: Unit<void> = (tx) => tx.accounts.touch(test.env, [{ id: row.id, lastUsedAt: NOW }]);
    const holder = await openSession(test.database.location);
    try {
      await holder.query({ text: 'begin' });
      await holder.query({ text: `select 1 from accounts where id = '${row.id}' for update` });
      // Waits for the lock for as long as a unit can. The promises below must resolve before this one.
      const isolated = test.store.write(touch).then(
        () => 'changed',
        () => 'gave up',
      );
      const touches: Promise<void>[] = [];
      for (let place = 0; place < 3; place++) {
        touches.push(test.store.write(touch, { isolated: false }));
        await turn();
      }
      const together = test.store.write(touch, { isolated: false });
      const noted = test.store.note(append('noted'));
      expect(await Promise.race([noted.then(() => 'noted'), isolated])).to.equal('noted');
      expect(await Promise.race([test.store.note(append('later')).then(() => 'noted'), isolated])).to.equal('noted');
      await holder.query({ text: 'rollback' });
      await Promise.all([...touches, together, isolated]);
    } finally {
      await holder.close();
    }
    expect((await test.store.read.accounts.get(test.env, row.id))?.lastUsedAt).to.equal(NOW);
    expect(await verify()).to.deep.equal({ intact: true, rows: 2 });
  });

  it('show their own records of the audit log before they are written', async () => {
    const seen = await test.store.write(async (tx) => {
      await append('first')(tx);
      const before = (await tx.audit.list(test.env, { size: 9 })).total;
      await Promise.all([append('second')(tx), append('third')(tx)]);
      const { rows, total } = await tx.audit.list(test.env, { size: 9 });
      await append('fourth')(tx);
      return {
        before,
        total,
        actions: rows.map(({ action }) => action).sort(),
        verdict: await tx.audit.verifyChain(test.env),
      };
    });
    expect(seen).to.deep.equal({
      ...{ before: 1, total: 3, actions: ['first', 'second', 'third'], verdict: { intact: true, rows: 4 } },
    });
    expect(await verify()).to.deep.equal({ intact: true, rows: 4 });
  });

  for (const cut of ['before', 'after'] as const) {
    it(`are committed exactly once when the connection is lost ${cut} the server receives the commit`, async () => {
      const connectionId = await github(test);
      const proxy = await startProxy(socketOfTests());
      const store = await openStore({ location: proxy.url(name), now: () => NOW });
      try {
        let effects = 0;
        proxy.cutAt('commit\0', cut);
        await Promise.all(
          Array.from({ length: 5 }, (_, place) =>
            store.write(
              async (tx) => {
                await tx.accounts.insert(test.env, account(test.newId, connectionId));
                await append(`added.${place}`)(tx);
                tx.afterCommit(() => effects++);
              },
              { isolated: false },
            ),
          ),
        );
        const { total } = await test.store.read.accounts.list(test.env, {}, { size: 1 });
        expect({ effects, total }).to.deep.equal({ effects: 5, total: 5 });
        expect(await verify()).to.deep.equal({ intact: true, rows: 5 });
      } finally {
        await store.close();
        await proxy.close();
      }
    });
  }

  it('fail together, and change nothing, if the instance has ended', async () => {
    const instance = await test.register('inst_1');
    test.store.fence(instance, 0);
    await test.store.note(append('noted'));
    runIn(name, `delete from instances where number = ${instance}`);
    const units = [append('first'), append('second')].map((unit) =>
      failure(test.store.write(unit, { isolated: false })),
    );
    expect((await Promise.all(units)).map((error) => (error as { code?: string }).code)).to.deep.equal([
      'INSTANCE_ENDED',
      'INSTANCE_ENDED',
    ]);
    expect(await verify()).to.deep.equal({ intact: true, rows: 1 });
  });

  describe('and how often units wait for the server', () => {
    let readers: Readers;
    let writer: Writer;
    let trips: () => number;

    beforeEach(async () => {
      const open = () => openSession(test.database.location);
      readers = createReaders(open, 1);
      const { session, trips: count } = counted(await open());
      const known = await withEpoch(async () => session)();
      trips = count;
      writer = createWriter({
        connection: { session: async () => known, waiting: () => 0, close: () => session.close() },
        ...{ place: 7, prepare: true, outcomes: createCommitOutcomes(readers), readers, report: () => {} },
      });
    });

    afterEach(async () => {
      await writer.close();
      await readers.close();
    });

    const tripsOf = async (unit: Unit<unknown>, isolated: boolean) => {
      const before = trips();
      await writer.run(unit, { isolated, alone: false, again: false });
      return trips() - before;
    };

    it('is once for records of the audit log, and twice for an account and its record', async () => {
      const connectionId = await github(test);
      const create: Unit<void> = async (tx) => {
        await tx.accounts.insert(test.env, account(test.newId, connectionId));
        await append('created')(tx);
      };
      // Not counted, because the first unit of a connection also reads the end of its chain of the audit log.
      await tripsOf(append('first'), true);
      expect({
        one: await tripsOf(append('one'), false),
        three: await tripsOf(async (tx) => {
          for (const action of ['a', 'b', 'c']) await append(action)(tx);
        }, false),
        isolated: await tripsOf(append('isolated'), true),
        created: await tripsOf(create, true),
        read: await tripsOf((tx) => tx.environments.get(test.env), true),
      }).to.deep.equal({ one: 1, three: 1, isolated: 1, created: 2, read: 2 });
      expect(await verify()).to.deep.equal({ intact: true, rows: 7 });
    });
  });
});
