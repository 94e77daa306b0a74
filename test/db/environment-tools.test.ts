import { expect } from 'chai';
import { contentHash } from '../../db/store.ts';
import { failure, NOW, openTestStore, type TestStore, tool } from './support.ts';

describe('tools of an environment', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });
  afterEach(() => test.end());

  const write = (...tools: ReturnType<typeof tool>[]) =>
    test.store.write((tx) => tx.environmentTools.upsert(test.env, tools));
  const read = () => test.store.read.environmentTools;
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name);

  it('are written by name, and read back with a hash of their content', async () => {
    const wanted = tool('mine_get_thing', { source: 'import', sourceId: 'getThing', flagged: 'was changed' });
    expect(await write(wanted)).to.equal(1);
    expect(await read().get(test.env, 'mine_get_thing')).to.deep.equal({
      name: 'mine_get_thing',
      connector: 'mine',
      source: 'import',
      sourceId: 'getThing',
      definition: '{"name":"mine_get_thing"}',
      contentHash: contentHash(wanted.definition),
      flagged: 'was changed',
      revision: 1,
      version: 1,
      createdAt: NOW,
      updatedAt: NOW,
    });
  });

  it('replace their previous versions, and keep the time of their creation', async () => {
    await write(tool('mine_get_thing'));
    await write(tool('mine_get_thing', { definition: { name: 'other' }, at: NOW + 5 }));
    expect(await read().get(test.env, 'mine_get_thing')).to.include({
      definition: '{"name":"other"}',
      version: 2,
      revision: 2,
      createdAt: NOW,
      updatedAt: NOW + 5,
    });
  });

  it('do not change if nothing is new, and neither does the revision', async () => {
    await write(tool('mine_a'), tool('mine_b'));
    expect(await write(tool('mine_a', { at: NOW + 5 }), tool('mine_b', { flagged: 'look', at: NOW + 5 }))).to.equal(1);
    expect(await read().get(test.env, 'mine_a')).to.include({ version: 1, updatedAt: NOW });
    expect(await read().get(test.env, 'mine_b')).to.include({ version: 2, updatedAt: NOW + 5, flagged: 'look' });
    expect(await read().revision(test.env)).to.equal(2);
    expect(await write(tool('mine_a'))).to.equal(0);
    expect(await read().revision(test.env)).to.equal(2);
  });

  it('are listed ordered by name, in pages and by provider', async () => {
    await write(tool('c'), tool('a'), tool('d', { connector: 'other' }), tool('b'));
    expect(names(await read().list(test.env, { limit: 3 }))).to.deep.equal(['a', 'b', 'c']);
    expect(names(await read().list(test.env, { limit: 3, after: 'b' }))).to.deep.equal(['c', 'd']);
    expect(names(await read().list(test.env, { connector: 'mine', after: 'a', limit: 1 }))).to.deep.equal(['b']);
    expect(names(await read().listByConnector(test.env, 'mine'))).to.deep.equal(['a', 'b', 'c']);
    expect(await read().names(test.env)).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('are found by their description, without surrounding space', async () => {
    const described = (description: string) => ({ definition: { description } });
    await write(tool('a', described(' Gets it.\n')), tool('b', described('Gets it')), tool('c', described('Gets it.')));
    await write(tool('d', { ...described('Gets it.'), connector: 'other' }));
    expect(await read().namesWithDescription(test.env, 'mine', 'Gets it.')).to.deep.equal(['a', 'c']);
    expect(await read().namesWithDescription(test.env, 'mine', 'Gets')).to.deep.equal([]);
  });

  it('are listed if they were written after a revision', async () => {
    await write(tool('a'), tool('b'));
    await write(tool('b', { definition: { name: 'new' } }), tool('c'));
    const page = async (revision: number, name = '') =>
      names(await read().changedAfter(test.env, { revision, name }, 2));
    expect(await page(1)).to.deep.equal(['a', 'b']);
    expect(await page(1, 'a')).to.deep.equal(['b', 'c']);
    expect(await page(2)).to.deep.equal(['b', 'c']);
    expect(await page(2, 'b')).to.deep.equal(['c']);
    expect(await page(3)).to.deep.equal([]);
  });

  it('are removed by name, and each removal increases the revision', async () => {
    await write(tool('a'), tool('b'), tool('c', { connector: 'other' }));
    const remove = (...all: string[]) => test.store.write((tx) => tx.environmentTools.delete(test.env, all));
    expect(await remove('a', 'unknown')).to.equal(1);
    expect(await remove('a')).to.equal(0);
    expect(await read().revision(test.env)).to.equal(2);
    expect(await remove('b')).to.equal(1);
    expect(await read().names(test.env)).to.deep.equal(['c']);
    expect(await read().revision(test.env)).to.equal(3);
  });

  it('are removed by their provider in batches, and each removal increases the revision', async () => {
    await write(tool('a'), tool('b'), tool('c', { connector: 'other' }), tool('d'));
    const { connector } = tool('a');
    const remove = () => test.store.write((tx) => tx.environmentTools.deleteOfConnector(test.env, connector, 2));
    expect(await remove()).to.equal(2);
    expect(await read().revision(test.env)).to.equal(2);
    expect(await remove()).to.equal(1);
    expect(await remove()).to.equal(0);
    expect(await read().names(test.env)).to.deep.equal(['c']);
    expect(await read().revision(test.env)).to.equal(3);
  });

  it('have a unique key from their source, per provider and source', async () => {
    const of = (name: string, over = {}) => tool(name, { source: 'import', sourceId: 'getThing', ...over });
    await write(of('a'), of('b', { connector: 'other' }), of('c', { source: 'mcp' }));
    const error = await failure(write(of('d')));
    expect(error.constraint).to.equal('environment_tools_source');
    expect(await read().names(test.env)).to.deep.equal(['a', 'b', 'c']);
  });
});
