import { expect } from 'chai';
import { digest, failure, NOW, openTestStore, type TestStore } from './support.ts';

const HOUR = 3_600_000;

describe('API clients', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
    const client = { id: 'cli_1', name: 'First', scopes: ['accounts:read', 'admin'], createdAt: NOW };
    await test.store.write((tx) => tx.apiClients.insert(test.env, client, secret('one')));
  });

  afterEach(() => test.end());

  const secret = (name: string, expiresAt: number | null = null) => ({
    id: `sec_${name}`,
    digest: digest(name),
    prefix: name,
    createdAt: NOW,
    expiresAt,
  });
  const live = async (now: number) => {
    const client = await test.store.read.apiClients.get(test.env, 'cli_1', now);
    return client?.secrets.map(({ prefix, expiresAt }) => ({ prefix, expiresAt }));
  };
  const rotate = (name: string, now: number, overlapMs = HOUR) =>
    test.store.write((tx) =>
      tx.apiClients.rotate(test.env, 'cli_1', { ...secret(name), createdAt: now }, { now, overlapMs }),
    );

  it('are returned with their valid secrets', async () => {
    expect(await test.store.read.apiClients.get(test.env, 'cli_1', NOW)).to.deep.equal({
      id: 'cli_1',
      name: 'First',
      scopes: ['accounts:read', 'admin'],
      enabled: true,
      generation: 1,
      createdAt: NOW,
      updatedAt: NOW,
      secrets: [secret('one')],
    });
    expect(await test.store.read.apiClients.get(test.env, 'cli_none', NOW)).to.equal(undefined);
  });

  it('have two secrets during a rotation, and one after the overlap', async () => {
    await rotate('two', NOW);
    expect(await live(NOW + 1)).to.deep.equal([
      { prefix: 'two', expiresAt: null },
      { prefix: 'one', expiresAt: NOW + HOUR },
    ]);
    expect(await live(NOW + HOUR - 1)).to.have.length(2);
    expect(await live(NOW + HOUR)).to.deep.equal([{ prefix: 'two', expiresAt: null }]);
  });

  it('never have three secrets, and an expiring secret is not extended', async () => {
    await rotate('two', NOW);
    await rotate('three', NOW + 10);
    expect((await live(NOW + 20))?.map(({ prefix }) => prefix)).to.deep.equal(['three', 'two']);
    await rotate('four', NOW + 20, 0);
    expect((await live(NOW + 20))?.map(({ prefix }) => prefix)).to.deep.equal(['four']);
  });

  it('keep the expiry of a secret, which a rotation does not extend', async () => {
    const client = { id: 'cli_2', name: 'Second', scopes: [], createdAt: NOW };
    await test.store.write((tx) => tx.apiClients.insert(test.env, client, secret('short', NOW + 5)));
    const next = { now: NOW, overlapMs: HOUR };
    await test.store.write((tx) =>
      tx.apiClients.rotate(test.env, 'cli_2', { ...secret('long'), createdAt: NOW + 1 }, next),
    );
    const after = await test.store.read.apiClients.get(test.env, 'cli_2', NOW + 1);
    expect(after?.secrets.map(({ expiresAt }) => expiresAt)).to.deep.equal([null, NOW + 5]);
  });

  it('are disabled immediately, with every token of the generation', async () => {
    const state = () => test.store.read.apiClients.state(test.env, 'cli_1');
    expect(await state()).to.deep.equal({ enabled: true, generation: 1 });
    const disable = () => test.store.write((tx) => tx.apiClients.disable(test.env, 'cli_1', NOW + 7));
    expect(await Promise.all([disable(), disable()])).to.deep.equal([true, false]);
    expect(await state()).to.deep.equal({ enabled: false, generation: 2 });
    expect(await test.store.read.apiClients.state(test.env, 'cli_none')).to.equal(undefined);
  });

  it('are listed newest first', async () => {
    const client = { id: 'cli_2', name: 'Second', scopes: [], createdAt: NOW };
    await test.store.write((tx) => tx.apiClients.insert(test.env, client, secret('two')));
    const page = await test.store.read.apiClients.list(test.env, { size: 1 });
    expect(page).to.deep.include({ hasNext: true, hasPrevious: false, total: 2 });
    expect(page.rows.map(({ id }) => id)).to.deep.equal(['cli_2']);
  });

  it('refuse a digest of another length', async () => {
    const short = { ...secret('short'), digest: Buffer.alloc(31) };
    const client = { id: 'cli_3', name: 'Third', scopes: [], createdAt: NOW };
    const error = await failure(test.store.write((tx) => tx.apiClients.insert(test.env, client, short)));
    expect(error.message).to.match(/check constraint/i);
    expect(await test.store.read.apiClients.get(test.env, 'cli_3', NOW)).to.equal(undefined);
  });
});
