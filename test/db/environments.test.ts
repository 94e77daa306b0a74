import { expect } from 'chai';
import { environmentId } from '../../db/store.ts';
import { addEnvironment, failure, NOW, openTestStore, type TestStore } from './support.ts';

describe('environments', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });

  afterEach(() => test.end());

  it('are found by each of their hosts, and by no other', async () => {
    const id = await addEnvironment(test.store, test.newId, 'api.example', 'custom.example');
    const read = test.store.read.environments;
    expect((await read.byHost('api.example'))?.id).to.equal(id);
    expect(await read.byHost('custom.example')).to.deep.equal({
      id,
      kind: 'DEVELOPMENT',
      baseUrl: 'http://api.example',
      settings: {},
      createdAt: NOW,
      hosts: ['api.example', 'custom.example'],
    });
    expect(await read.byHost('example')).to.equal(undefined);
    expect((await read.list()).map((row) => row.id)).to.deep.equal([test.env, id]);
  });

  it('accept another base URL, keep their hosts, and are found by the new one, but never by a host of another environment', async () => {
    const id = await addEnvironment(test.store, test.newId, 'api.example');
    const move = (baseUrl: string) => test.store.write((tx) => tx.environments.setBaseUrl(id, baseUrl));
    await move('https://new.example:8443');
    await move('https://new.example');
    const found = await test.store.read.environments.byHost('new.example');
    expect(found).to.include({ id, baseUrl: 'https://new.example' });
    expect(found?.hosts).to.have.members(['api.example', 'new.example']);
    expect((await failure(move('http://localhost'))).name).to.equal('UniqueError');
  });

  it('cannot share a host', async () => {
    const error = await failure(addEnvironment(test.store, test.newId, 'localhost'));
    expect([error.name, error.constraint]).to.deep.equal(['UniqueError', 'environment_hosts_host']);
    expect(await test.store.read.environments.list()).to.have.length(1);
  });

  it('keep their settings', async () => {
    const id = environmentId(test.newId('env'));
    const settings = { linkTtlMs: 900_000, userVerifyUrls: ['https://app.example/verify'] };
    const row = { id, kind: 'PRODUCTION' as const, baseUrl: 'https://x', settings, createdAt: NOW, hosts: [] };
    await test.store.write((tx) => tx.environments.insert(row));
    expect(await test.store.read.environments.get(id)).to.deep.equal(row);
  });

  it('have ids with the prefix of environments', () => {
    for (const wrong of [
      '',
      'env_',
      'conn_01hzzzzzzzzzzzzzzzzzzzzzzz',
      'env_01hzzzzzzzzzzzzzzzzzzzzzz',
      'env_0iiiiiiiiiiiiiiiiiiiiiiiii',
    ]) {
      expect(() => environmentId(wrong), wrong).to.throw(TypeError);
    }
  });
});
