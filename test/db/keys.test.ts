import { expect } from 'chai';
import { RelationError } from '../../db/store.ts';
import {
  account,
  addConnection,
  addKeyChecks,
  connection,
  github,
  NOW,
  openTestStore,
  type TestStore,
} from './support.ts';

describe('secrets and key checks of the deployment', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });

  afterEach(() => test.end());

  const sealed = (text: string, kekId = 'kek_1') => ({ kekId, sealed: Buffer.from(text) });

  it('keep the first secret of a name, even if others are offered later', async () => {
    await addKeyChecks(test.store, 'kek_1');
    const bring = (text: string) =>
      test.store.write((tx) =>
        tx.deploymentSecrets.insertIfAbsent({ name: 'signing', ...sealed(text), createdAt: NOW }),
      );
    const [one, two] = await Promise.all([bring('one'), bring('two')]);
    expect(one).to.deep.equal(two);
    expect(one.sealed.toString()).to.equal('one');
    expect(await test.store.read.deploymentSecrets.get('signing')).to.deep.equal(one);
    expect(await test.store.read.deploymentSecrets.list()).to.deep.equal([one]);
  });

  it('replace only encrypted values that are unchanged', async () => {
    await addKeyChecks(test.store, 'kek_1', 'kek_2');
    const secret = { name: 'signing', ...sealed('old'), createdAt: NOW };
    await test.store.write((tx) => tx.deploymentSecrets.insertIfAbsent(secret));
    const replace = (text: string) =>
      test.store.write((tx) => tx.deploymentSecrets.replace('signing', Buffer.from('old'), sealed(text, 'kek_2')));
    expect(await Promise.all([replace('new'), replace('newer')])).to.deep.equal([true, false]);
    expect(await test.store.read.deploymentSecrets.get('signing')).to.deep.include(sealed('new', 'kek_2'));
  });

  it('keep one check value per key', async () => {
    const check = (value: string) => ({ kekId: 'kek_1', checkValue: Buffer.from(value), createdAt: NOW });
    await test.store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check('one')));
    const kept = await test.store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check('two')));
    expect(kept).to.deep.equal(check('one'));
    expect(await test.store.read.deploymentSecrets.keyChecks()).to.deep.equal([check('one')]);
    expect(await test.store.write((tx) => tx.deploymentSecrets.deleteKeyCheck('kek_1'))).to.equal(true);
  });

  it('refuse data encrypted with a key without a check value, also if it was removed', async () => {
    const secret = { name: 'signing', ...sealed('late'), createdAt: NOW };
    const late = test.store.write((tx) => tx.deploymentSecrets.insertIfAbsent(secret));
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(RelationError);
  });
});

describe('rotation of the key-encryption key', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
    await addKeyChecks(test.store, 'kek_1', 'kek_2');
  });

  afterEach(() => test.end());

  it('rewraps every data key, page by page, and skips those that have changed meanwhile', async () => {
    const connectionId = await github(test);
    const rows = Array.from({ length: 7 }, (_, i) =>
      account(test.newId, connectionId, i === 3 ? {} : { wrappedDataKey: Buffer.from(`old-${i}`), kekId: 'kek_1' }),
    );
    for (const row of rows) await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const rotation = test.store.read.keyRotation;
    expect(await rotation.countByKek('kek_1')).to.equal(6);
    const page = await rotation.listByKek('kek_1', 0, 4);
    expect(page.map(({ id }) => id)).to.deep.equal([0, 1, 2, 4].map((i) => rows[i]?.id));
    expect(page[0]).to.deep.include({ environmentId: test.env, credentialGeneration: 0, origins: [] });

    const wrap = (id: string, old: string) =>
      test.store.write((tx) =>
        tx.keyRotation.setWrappedKey('accounts', id, Buffer.from(old), {
          wrappedDataKey: Buffer.from('new'),
          kekId: 'kek_2',
        }),
      );
    expect(await wrap(rows[0]?.id ?? '', 'old-0')).to.equal(true);
    expect(await wrap(rows[0]?.id ?? '', 'old-0')).to.equal(false);
    const rest = await rotation.listByKek('kek_1', page.at(-1)?.seq ?? 0, 4);
    expect(rest.map(({ id }) => id)).to.deep.equal([rows[5]?.id, rows[6]?.id]);
    expect(await rotation.countByKek('kek_1')).to.equal(5);
    const stored = await test.store.read.accounts.get(test.env, rows[0]?.id ?? '');
    expect(stored).to.include({ kekId: 'kek_2', version: 1, updatedAt: NOW });
  });

  it('includes the client secrets of connections', async () => {
    const sealed = { wrappedDataKey: Buffer.from('old'), kekId: 'kek_1', clientSecretSealed: Buffer.from('sealed') };
    const row = connection(test.newId, { keyId: 'sealed', ...sealed, clientGeneration: 3 });
    await addConnection(test.store, test.env, row);
    const rotation = test.store.read.keyRotation;
    expect([await rotation.countByKek('kek_1'), await rotation.countByKek('kek_2')]).to.deep.equal([1, 0]);
    const place = { table: 'connections', id: row.id, environmentId: test.env, generation: 3 };
    expect(await rotation.listWaiting('kek_1')).to.deep.equal([{ ...place, wrappedDataKey: Buffer.from('old') }]);
    expect(await rotation.listWaiting('kek_2')).to.deep.equal([]);
    const by = { wrappedDataKey: Buffer.from('new'), kekId: 'kek_2' };
    const replace = () =>
      test.store.write((tx) => tx.keyRotation.setWrappedKey('connections', row.id, Buffer.from('old'), by));
    expect(await Promise.all([replace(), replace()])).to.deep.equal([true, false]);
    expect(await test.store.read.connections.get(test.env, row.id)).to.deep.include({ ...by, version: 1 });
    expect([await rotation.countByKek('kek_1'), await rotation.countByKek('kek_2')]).to.deep.equal([0, 1]);
  });
});
