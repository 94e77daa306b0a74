import { expect } from 'chai';
import { addEnvironment, failure, openTestStore, type TestStore, toolOverlay } from '../support.ts';

describe('the version of settings on SQLite', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });

  afterEach(() => test.end());

  it('changes with the settings, hosts and addresses of environments', async () => {
    const { store, env, newId } = test;
    const versions = [store.settingsVersion()];
    await store.write((tx) => tx.environments.setSettings(env, {}));
    versions.push(store.settingsVersion());
    await store.write((tx) => tx.environments.setBaseUrl(env, 'https://moved.example'));
    versions.push(store.settingsVersion());
    await addEnvironment(store, newId, 'another.example');
    versions.push(store.settingsVersion());
    expect(versions).to.deep.equal([...new Set(versions)].sort((a, b) => a - b));
  });

  it('stays the same when a unit fails, and when something else is written', async () => {
    const { store, env } = test;
    const before = store.settingsVersion();
    const failing = store.write(async (tx) => {
      await tx.environments.setSettings(env, {});
      throw new Error('rolled back');
    });
    expect((await failure(failing)).message).to.equal('rolled back');
    await store.write((tx) => tx.toolOverlays.set(env, toolOverlay('github_get_issue')));
    expect(store.settingsVersion()).to.equal(before);
  });
});
