import { expect } from 'chai';
import { INSTANCE } from '../../../core/budgets.ts';
import { createHeartbeat } from '../../../core/instances/heartbeat.ts';
import { registerSharedInstance } from '../../../core/instances/instance.ts';
import { digest, NOW, openTestStore, type TestStore } from '../../db/support.ts';

describe('the heartbeat of several instances', () => {
  let test: TestStore;
  let now: number;

  beforeEach(async () => {
    test = await openTestStore();
    now = NOW;
  });
  afterEach(() => test.end());

  async function start() {
    const deps = { store: test.store, now: () => now, newId: test.newId, version: '1.2.3', keyIds: () => ['kek_1'] };
    const instance = await registerSharedInstance(deps);
    return { instance, beat: createHeartbeat(instance, deps) };
  }

  it('cleans up after an instance that does not report', async () => {
    const [own, crashed] = [await start(), await start()];
    const keyDigest = digest('key');
    const key = { clientId: 'cli_1', route: 'executeTool', keyDigest };
    await test.store.write((tx) =>
      tx.idempotencyKeys.claim(test.env, {
        ...key,
        requestDigest: digest('body'),
        createdAt: NOW,
        expiresAt: NOW + 1e6,
        instance: crashed.instance.number,
      }),
    );
    const counts: (number | null)[] = [];
    for (let step = 0; step < 4; step++) {
      now += INSTANCE.beatEveryMs;
      counts.push(await own.beat());
    }
    expect(counts).to.deep.equal([2, 2, 2, 1]);
    expect(await test.store.read.idempotencyKeys.get(test.env, key)).to.equal(undefined);
  });

  it('does not consider others ended because the database was not available for a time', async () => {
    const [own, other] = [await start(), await start()];
    const both = async () => [await own.beat(), await other.beat()];
    for (let step = 0; step < 5; step++) {
      now += INSTANCE.beatEveryMs;
      expect(await both()).to.deep.equal([2, 2]);
    }
    now += 2 * INSTANCE.silentMs;
    expect(await own.beat(), 'the first that reports again').to.equal(2);
    now += INSTANCE.beatEveryMs - 1;
    expect(await both()).to.deep.equal([2, 2]);
  });

  it('does not consider others ended when it starts', async () => {
    const first = await start();
    now += 2 * INSTANCE.silentMs;
    const second = await start();
    expect([await second.beat(), await first.beat()]).to.deep.equal([2, 2]);
  });
});
