import { expect } from 'chai';
import fc from 'fast-check';
import type { AccountRow, AccountStatus, NewAccount } from '../../db/store.ts';
import {
  account,
  addConnection,
  addEnvironment,
  addKeyChecks,
  connection,
  failure,
  github,
  NOW,
  openSharedTestStore,
  openTestStore,
  type TestStore,
} from './support.ts';

describe('accounts', () => {
  let test: TestStore;
  let connectionId: string;

  beforeEach(async () => {
    test = await openTestStore();
    connectionId = await github(test);
    await addKeyChecks(test.store, 'kek_1');
  });

  afterEach(() => test.end());

  const insert = async (over: Partial<NewAccount> = {}) => {
    const row = account(test.newId, over.connectionId ?? connectionId, over);
    const inserted = await test.store.write((tx) => tx.accounts.insert(test.env, row));
    expect(inserted).to.deep.equal(await get(row.id));
    return row;
  };
  const get = (id: string) => test.store.read.accounts.get(test.env, id);
  const list = (filters = {}) => test.store.read.accounts.list(test.env, filters, { size: 100 });

  it('are returned as they were stored', async () => {
    const full: Partial<NewAccount> = {
      organizationId: 'org_1',
      authorizationType: 'TRUSTED_IDP',
      status: 'EXPIRED',
      statusReason: 'invalid_grant',
      tokenExpiresAt: NOW + 1,
      lastUsedAt: NOW + 2,
      apiConfig: { nested: { list: [1, null, 'é'] } },
      publicDetails: { scopes: ['a'] },
      origins: ['https://api.example.com'],
      binding: {
        base: 'https://api.example.com/v1',
        use: 'digest',
        fields: { key: 'secret' },
        issued: null,
        endpoints: ['https://api.example.com/oauth'],
      },
      providerSubject: 'subject',
      requiredScopes: ['files:write'],
      wrappedDataKey: Buffer.from([1, 2]),
      kekId: 'kek_1',
      credentialsSealed: Buffer.from([0, 255]),
      temporarySealed: Buffer.from([3]),
      credentialGeneration: 7,
    };
    const row = await insert(full);
    const { seq, ...stored } = (await get(row.id)) ?? {};
    expect(stored).to.deep.equal({ ...row, environmentId: test.env, version: 1 });
    expect(seq).to.be.a('number');
  });

  it('have empty values for omitted fields', async () => {
    const row = await insert();
    expect(await get(row.id)).to.deep.include({
      organizationId: '',
      statusReason: null,
      apiConfig: {},
      publicDetails: null,
      origins: [],
      binding: { base: null, use: '', fields: {}, issued: null, endpoints: [] },
      wrappedDataKey: null,
      credentialsSealed: null,
      credentialGeneration: 0,
    });
  });

  it('have no encrypted fields in a list', async () => {
    await insert({ credentialsSealed: Buffer.from('sealed'), apiConfig: { secret: true }, publicDetails: { a: 1 } });
    const [row] = (await list()).rows;
    const names = [
      'credentialsSealed',
      'temporarySealed',
      'wrappedDataKey',
      'apiConfig',
      'publicDetails',
      'searchText',
    ];
    expect(row).not.to.have.any.keys(...names);
  });

  it('are found in batches by the expiry of their tokens, earliest first, by an index', async () => {
    const ends = [30, 10, 20, 10, 99, null];
    const rows: NewAccount[] = [];
    for (const [n, tokenExpiresAt] of ends.entries()) rows.push(await insert({ identifier: `i${n}`, tokenExpiresAt }));
    await insert({ identifier: 'expired', tokenExpiresAt: 5, status: 'EXPIRED' });
    await insert({ identifier: 'key', tokenExpiresAt: 5, authorizationType: 'API_KEY' });
    const found: string[] = [];
    for (let after: AccountRow | undefined; ; ) {
      const idle = { provider: 'github', type: 'OAUTH', endedBy: 30, after, limit: 2 } as const;
      const piece = await test.store.read.accounts.listIdle(test.env, idle);
      found.push(...piece.map(({ id }) => id));
      after = piece.at(-1);
      if (piece.length < 2) break;
    }
    expect(found).to.deep.equal([1, 3, 2, 0].map((n) => rows[n]?.id));
  });

  it('keep names of prototype properties as plain keys of api_config (C9)', async () => {
    const row = await insert({ apiConfig: JSON.parse('{"__proto__": {"polluted": true}}') });
    const stored = await get(row.id);
    expect(JSON.stringify(stored?.apiConfig)).to.equal('{"__proto__":{"polluted":true}}');
    expect({}).not.to.have.property('polluted');
  });

  describe('by their key', () => {
    it('are found by user, by organization, or by both, under a connection or its key', async () => {
      const row = await insert({ organizationId: 'org_1', userId: 'user_1', identifier: 'ada' });
      await insert({ organizationId: 'org_2', userId: 'user_2', identifier: 'ada' });
      for (const where of [{ connectionId }, { connector: 'github' }]) {
        for (const owner of [
          { userId: 'user_1' },
          { organizationId: 'org_1' },
          { organizationId: 'org_1', userId: 'user_1' },
        ]) {
          const rows = await test.store.read.accounts.byKey(test.env, { ...where, ...owner, identifier: 'ada' });
          expect(rows.map(({ id }) => id)).to.deep.equal([row.id]);
        }
        const crossed = { organizationId: 'org_1', userId: 'user_2', identifier: 'ada' };
        expect(await test.store.read.accounts.byKey(test.env, { ...where, ...crossed })).to.deep.equal([]);
      }
    });

    it('returns two accounts if a partial key matches several (C2)', async () => {
      await insert({ organizationId: 'org_1', userId: 'user_1', identifier: 'ada' });
      await insert({ organizationId: 'org_1', userId: 'user_2', identifier: 'ada' });
      await insert({ organizationId: 'org_1', userId: 'user_3', identifier: 'ada' });
      const key = { connectionId, organizationId: 'org_1', identifier: 'ada' };
      expect(await test.store.read.accounts.byKey(test.env, key)).to.have.length(2);
      expect(await test.store.read.accounts.byKey(test.env, { ...key, userId: 'user_2' })).to.have.length(1);
    });

    it('match an owner that is given as empty only if it is empty', async () => {
      const row = await insert({ organizationId: 'org_1', userId: '', identifier: 'ada' });
      await insert({ organizationId: 'org_1', userId: 'user_1', identifier: 'ada' });
      const key = { connectionId, organizationId: 'org_1', userId: '', identifier: 'ada' };
      expect((await test.store.read.accounts.byKey(test.env, key)).map(({ id }) => id)).to.deep.equal([row.id]);
    });

    it('compare identifiers byte for byte', async () => {
      await insert({ identifier: 'Ada' });
      await insert({ identifier: 'ada' });
      const key = { connectionId, userId: 'user_1', identifier: 'ada' };
      expect(await test.store.read.accounts.byKey(test.env, key)).to.have.length(1);
    });

    it('are unique by connection, organization, user and identifier, and may be created again after a removal', async () => {
      const other = await addConnection(test.store, test.env, connection(test.newId, { keyId: 'other' }));
      const key = { organizationId: 'org_1', userId: 'user_1', identifier: 'ada' };
      const row = await insert(key);
      await insert({ ...key, organizationId: 'org_2' });
      await insert({ ...key, userId: 'user_2' });
      await insert({ ...key, identifier: 'eve' });
      await insert({ ...key, connectionId: other, connector: 'other' });
      const clash = await failure(insert(key));
      expect([clash.name, clash.constraint]).to.deep.equal(['UniqueError', 'accounts_identity']);
      await test.store.write((tx) => tx.accounts.remove(test.env, row.id, NOW));
      await insert(key);
    });
  });

  describe('change', () => {
    it('only from the version that the writer has read', async () => {
      const row = await insert();
      const update = (version: number, statusReason: string) =>
        test.store.write((tx) =>
          tx.accounts.update(test.env, row.id, version, { statusReason, updatedAt: NOW + version }),
        );
      expect(await Promise.all([update(1, 'first'), update(1, 'second')])).to.deep.equal([true, false]);
      expect(await update(2, 'third')).to.equal(true);
      expect(await get(row.id)).to.include({ statusReason: 'third', version: 3, updatedAt: NOW + 2 });
    });

    it('in the named fields only, also to null', async () => {
      const row = await insert({ statusReason: 'why', apiConfig: { a: 1 }, publicDetails: { b: 2 } });
      const changes = { statusReason: null, publicDetails: null, tokenExpiresAt: undefined, updatedAt: NOW };
      await test.store.write((tx) => tx.accounts.update(test.env, row.id, 1, changes));
      expect(await get(row.id)).to.deep.include({ statusReason: null, publicDetails: null, apiConfig: { a: 1 } });
    });

    it('in status only from the named states', async () => {
      const row = await insert({ status: 'PENDING_AUTH' });
      const move = (from: AccountStatus[], status: AccountStatus) =>
        test.store.write((tx) =>
          tx.accounts.setStatus(test.env, row.id, from, { status, reason: 'r', updatedAt: NOW + 5 }),
        );
      expect(await move(['ACTIVE', 'EXPIRED'], 'DISCONNECTED')).to.equal(false);
      expect(await move(['ACTIVE', 'PENDING_AUTH'], 'ACTIVE')).to.equal(true);
      expect(await get(row.id)).to.include({ status: 'ACTIVE', statusReason: 'r', version: 2, updatedAt: NOW + 5 });
    });

    it('together for a provider, in every connection of it', async () => {
      const second = await addConnection(test.store, test.env, connection(test.newId, { keyId: 'second' }));
      await addConnection(test.store, test.env, connection(test.newId, { keyId: 'mail', providerKey: 'gmail' }));
      const mail = (await test.store.read.connections.byKeyId(test.env, 'mail'))?.id ?? '';
      await insert();
      await insert({ status: 'DISCONNECTED' });
      await insert({ connectionId: second, connector: 'second', status: 'EXPIRED' });
      const other = await insert({ connectionId: mail, connector: 'mail', provider: 'gmail' });
      const to = { status: 'DISCONNECTED' as const, reason: 'provider deleted', updatedAt: NOW };
      expect(await test.store.write((tx) => tx.accounts.setStatusByProvider(test.env, 'github', to))).to.equal(2);
      expect((await list({ status: 'DISCONNECTED' })).total).to.equal(3);
      expect(await get(other.id)).to.include({ status: 'ACTIVE' });
      const pages = [];
      for (let afterSeq = 0; ; ) {
        const rows = await test.store.read.accounts.listByProvider(test.env, 'github', { afterSeq, limit: 2 });
        if (rows.length === 0) break;
        pages.push(rows.length);
        afterSeq = rows.at(-1)?.seq ?? 0;
      }
      expect(pages).to.deep.equal([2, 1]);
    });

    it('never in their identity', async () => {
      const row = await insert();
      for (const column of ['id', 'connection_id', 'connector', 'provider']) {
        const change = `update accounts set ${column} = 'x' where id = '${row.id}'`;
        expect(() => test.database.run(change)).to.throw(/never changes/);
      }
    });

    it('not by use: touching keeps the latest time and the version', async () => {
      const [one, two] = [await insert(), await insert()];
      const touch = (uses: { id: string; lastUsedAt: number }[]) =>
        test.store.write((tx) => tx.accounts.touch(test.env, uses));
      await touch([
        { id: one.id, lastUsedAt: NOW + 10 },
        { id: two.id, lastUsedAt: NOW + 20 },
        { id: 'ca_gone', lastUsedAt: NOW },
      ]);
      await touch([{ id: one.id, lastUsedAt: NOW + 5 }]);
      expect(await get(one.id)).to.include({ lastUsedAt: NOW + 10, version: 1, updatedAt: NOW });
      expect(await get(two.id)).to.include({ lastUsedAt: NOW + 20 });
    });
  });

  describe('after removal', () => {
    it('keep a tombstone with their generation', async () => {
      const row = await insert({ credentialGeneration: 4 });
      const remove = () => test.store.write((tx) => tx.accounts.remove(test.env, row.id, NOW + 9));
      expect(await remove()).to.equal(true);
      expect(await remove()).to.equal(false);
      expect(await get(row.id)).to.equal(undefined);
      expect(await test.store.read.accounts.tombstone(test.env, row.id)).to.include({
        generation: 4,
        deletedAt: NOW + 9,
      });
    });

    it('refuse a late write, and cannot be created again under their id (C12)', async () => {
      const row = await insert();
      const late = { credentialsSealed: Buffer.from('late'), updatedAt: NOW };
      const [removed, updated] = await Promise.all([
        test.store.write((tx) => tx.accounts.remove(test.env, row.id, NOW)),
        test.store.write((tx) => tx.accounts.update(test.env, row.id, 1, late)),
      ]);
      expect([removed, updated]).to.deep.equal([true, false]);
      const error = await failure(test.store.write((tx) => tx.accounts.insert(test.env, row)));
      expect(error.message).to.contain('does not come back');
    });

    it('exist again when the unit that removed them is rolled back', async () => {
      const row = await insert();
      const undone = test.store.write(async (tx) => {
        await tx.accounts.remove(test.env, row.id, NOW);
        throw new Error('undone');
      });
      await failure(undone);
      expect(await get(row.id)).to.include({ id: row.id });
      expect(await test.store.read.accounts.tombstone(test.env, row.id)).to.equal(undefined);
      expect((await list()).total).to.equal(1);
    });
  });

  it('have exact totals for every filter after any sequence of inserts, changes, removals and rolled back units', async () => {
    // The usual test store runs each unit of work twice. The units below update the expected state while they run, so
    // this test opens a store that runs each unit once.
    await test.end();
    test = await openSharedTestStore();
    connectionId = await github(test);
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    const connections = [
      { env: test.env, id: connectionId, connector: 'github', provider: 'github' },
      { env: test.env, id: test.newId('conn'), connector: 'second', provider: 'github' },
      { env: test.env, id: test.newId('conn'), connector: 'mail', provider: 'gmail' },
      { env: other, id: test.newId('conn'), connector: 'github', provider: 'github' },
    ];
    for (const { env, id, connector, provider } of connections.slice(1)) {
      await addConnection(test.store, env, connection(test.newId, { id, keyId: connector, providerKey: provider }));
    }
    const statuses: AccountStatus[] = ['ACTIVE', 'EXPIRED', 'DISCONNECTED'];
    const owner = fc.constantFrom('', 'a', 'b');
    const step = fc.record({
      kind: fc.constantFrom('insert', 'insert', 'insert', 'status', 'remove', 'provider'),
      connection: fc.nat(connections.length - 1),
      status: fc.constantFrom(...statuses),
      organizationId: owner,
      userId: owner,
      which: fc.nat(),
      undo: fc.boolean(),
    });
    type Live = NewAccount & { env: typeof other };
    const live = new Map<string, Live>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
        async (units) => {
          const write = (steps: (typeof units)[0]) => {
            const after = new Map(live);
            const to = { reason: null, updatedAt: NOW };
            return test.store.write(async (tx) => {
              after.clear();
              for (const [id, row] of live) after.set(id, row);
              for (const { kind, connection: place, status, organizationId, userId, which } of steps) {
                const { env, id: connectionId, connector, provider } = connections[place] as (typeof connections)[0];
                const target = [...after.values()][which % Math.max(after.size, 1)];
                if (kind === 'insert') {
                  const row = account(test.newId, connectionId, {
                    connector,
                    provider,
                    status,
                    organizationId,
                    userId,
                  });
                  await tx.accounts.insert(env, row);
                  after.set(row.id, { ...row, env });
                } else if (kind === 'provider') {
                  await tx.accounts.setStatusByProvider(env, provider, { ...to, status });
                  for (const row of after.values()) {
                    if (row.env === env && row.provider === provider) after.set(row.id, { ...row, status });
                  }
                } else if (target !== undefined && kind === 'status') {
                  await tx.accounts.setStatus(target.env, target.id, statuses, { ...to, status });
                  after.set(target.id, { ...target, status });
                } else if (target !== undefined) {
                  await tx.accounts.remove(target.env, target.id, NOW);
                  after.delete(target.id);
                }
              }
              if (steps[0]?.undo) throw new Error('undone');
              live.clear();
              for (const [id, row] of after) live.set(id, row);
            });
          };
          await Promise.allSettled(units.map(write));
          const filters = [
            {},
            { connector: 'github' },
            { provider: 'github' },
            { provider: 'github', status: 'EXPIRED' as const },
            { connectionId: connections[2]?.id },
            { connectionId: connections[3]?.id },
            { connector: 'second', provider: 'gmail' },
            { status: 'ACTIVE' as const },
            { organizationId: 'a' },
            { userId: 'b', status: 'ACTIVE' as const },
            { userId: 'a', organizationId: 'b', connector: 'github', provider: 'github' },
          ];
          for (const env of [test.env, other]) {
            for (const filter of filters) {
              const expected = [...live.values()].filter(
                (row) =>
                  row.env === env && Object.entries(filter).every(([name, value]) => row[name as keyof Live] === value),
              );
              const page = await test.store.read.accounts.list(env, filter, { size: 3 });
              expect(page.total, JSON.stringify(filter)).to.equal(expected.length);
              expect(page.rows).to.have.length(Math.min(3, expected.length));
            }
          }
        },
      ),
      { numRuns: 40 },
    );
    expect(live.size).to.be.greaterThan(0);
  });
});
