import { expect } from 'chai';
import { StorageError } from '../../db/store.ts';
import { addEnvironment, NOW, openTestStore, type TestStore } from './support.ts';

describe('the audit log', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
    await append(5);
  });

  afterEach(() => test.end());

  const entry = (action: string) => ({
    id: test.newId('aud'),
    at: NOW,
    actor: 'cli_1',
    action,
    subjectId: 'ca_1',
    requestId: 'req_1',
    details: { b: 1, a: { d: [1, { z: 1, y: 2 }], c: null } },
  });
  const append = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        test.store.write((tx) => tx.audit.append(test.env, entry(`action.${i}`))),
      ),
    );
  const verify = () => test.store.read.audit.verifyChain(test.env);
  const tamper = (sql: string) => test.database.tamperWithAudit(sql);
  const first = async () => (await test.store.read.audit.list(test.env, { size: 1 })).rows[0]?.seq ?? 0;

  it('is a valid hash chain, separate for each environment', async () => {
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    await test.store.write((tx) => tx.audit.append(other, entry('elsewhere')));
    await append(2);
    expect(await verify()).to.deep.equal({ intact: true, rows: 7 });
    expect(await test.store.read.audit.verifyChain(other)).to.deep.equal({ intact: true, rows: 1 });
  });

  it('is valid after units that were rolled back', async () => {
    const undone = test.store.write(async (tx) => {
      await tx.audit.append(test.env, entry('undone'));
      throw new Error('undone');
    });
    await Promise.all([append(1), undone.catch(() => {}), append(1)]);
    expect(await verify()).to.deep.equal({ intact: true, rows: 7 });
  });

  it('is valid for every environment when units of one transaction alternate, and some are rolled back', async () => {
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    const units = Array.from({ length: 12 }, (_, place) =>
      test.store.write(async (tx) => {
        for (const environment of [test.env, other]) await tx.audit.append(environment, entry(`unit.${place}`));
        if (place % 3 === 0) throw new Error('undone');
      }),
    );
    await Promise.allSettled(units);
    expect(await verify()).to.deep.equal({ intact: true, rows: 13 });
    expect(await test.store.read.audit.verifyChain(other)).to.deep.equal({ intact: true, rows: 8 });
    expect((await test.store.read.audit.list(other, { size: 1 })).total).to.equal(8);
  });

  it('is valid after a whole transaction was lost', async () => {
    const lost = test.store.write(async (tx) => {
      await tx.audit.append(test.env, entry('lost'));
      throw new StorageError('SQLITE_CORRUPT', 'as a damaged page would');
    });
    await lost.catch(() => {});
    expect(await verify()).to.deep.equal({ intact: true, rows: 5 });
  });

  it('is valid within a transaction as well, with the entries that it has appended', async () => {
    const seen = await test.store.write(async (tx) => {
      await tx.audit.append(test.env, entry('now'));
      return tx.audit.verifyChain(test.env);
    });
    expect(seen).to.deep.equal({ intact: true, rows: 6 });
  });

  it('is valid when several stores append to one database', async () => {
    const second = await test.database.open();
    const stores = [test.store, second, second, test.store, second];
    for (const [place, store] of stores.entries()) {
      await store.write((tx) => tx.audit.append(test.env, entry(`turn.${place}`)));
    }
    await second.close();
    expect(await verify()).to.deep.equal({ intact: true, rows: 10 });
  });

  it('F4: is valid for details with undefined members, which are not stored', async () => {
    const details = { user: { organization_id: undefined, user_id: 'ada', also: [undefined] } };
    await test.store.write((tx) => tx.audit.append(test.env, { ...entry('session.created'), details }));
    expect(await verify()).to.deep.equal({ intact: true, rows: 6 });
  });

  it('is read newest first', async () => {
    const page = await test.store.read.audit.list(test.env, { size: 2 });
    expect(page).to.deep.include({ total: 5, hasNext: true });
    expect(page.rows.map(({ action }) => action)).to.deep.equal(['action.4', 'action.3']);
    const next = await test.store.read.audit.list(test.env, { size: 2, after: page.rows[1]?.id });
    expect(next.rows.map(({ action }) => action)).to.deep.equal(['action.2', 'action.1']);
  });

  it('cannot be changed by a plain update', () => {
    expect(() => test.database.run("update audit_log set actor = 'nobody'")).to.throw(/never changed/);
  });

  const edits: Record<string, string> = {
    seq: 'seq = seq + 100',
    id: "id = 'aud_x'",
    at: 'at = at + 1',
    actor: "actor = 'cli_2'",
    action: "action = 'harmless'",
    subject_id: 'subject_id = null',
    request_id: "request_id = 'req_2'",
    details: "details = '{}'",
    prev_hash: 'prev_hash = hash',
    hash: 'hash = prev_hash',
  };
  for (const [column, edit] of Object.entries(edits)) {
    it(`reveals that ${column} of a row was edited`, async () => {
      const newest = await first();
      tamper(`update audit_log set ${edit} where seq = ${newest - 2}`);
      expect(await verify()).to.have.property('intact', false);
    });
  }

  for (const [where, back] of [
    ['the oldest', 4],
    ['a middle', 2],
    ['the newest', 0],
  ] as const) {
    it(`reveals that ${where} row was removed`, async () => {
      const newest = await first();
      tamper(`delete from audit_log where seq = ${newest - back}`);
      expect(await verify()).to.have.property('intact', false);
    });
  }

  it('reveals that all rows were removed', async () => {
    tamper('delete from audit_log');
    expect(await verify()).to.have.property('intact', false);
  });

  it('reveals that two rows were exchanged', async () => {
    const newest = await first();
    tamper(
      `update audit_log set seq = -1 where seq = ${newest}; update audit_log set seq = ${newest} where seq = ${newest - 1};
       update audit_log set seq = ${newest - 1} where seq = -1`,
    );
    expect(await verify()).to.deep.equal({ intact: false, brokenAt: newest - 1 });
  });

  it('does not depend on the order of keys in the details', async () => {
    const reordered = JSON.stringify({ a: { c: null, d: [1, { y: 2, z: 1 }] }, b: 1 });
    const newest = await first();
    tamper(`update audit_log set details = '${reordered}' where seq = ${newest - 1}`);
    expect(await verify()).to.deep.equal({ intact: true, rows: 5 });
  });
});
