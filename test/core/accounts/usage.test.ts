import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { UsageTracker } from '../../../core/accounts/usage.ts';

describe('UsageTracker', () => {
  type Written = [environmentId: string, times: { id: string; lastUsedAt: number }[]];

  function tracker(write: (...call: Written) => Promise<void> = async () => {}) {
    const written: Written[] = [];
    const usage = new UsageTracker(async (...call) => {
      await write(...call);
      written.push(call);
    });
    return { usage, written };
  }

  it('shows a use immediately, and later writes only the last one of each account', async () => {
    const { usage, written } = tracker();
    usage.touch('env_a', 'ca_1', 10);
    usage.touch('env_a', 'ca_1', 20);
    usage.touch('env_b', 'ca_1', 30);
    expect(usage.lastUsedAt('env_a', 'ca_1', 5)).to.equal(20);
    expect(usage.lastUsedAt('env_b', 'ca_1', null)).to.equal(30);
    expect(usage.lastUsedAt('env_a', 'ca_2', 7)).to.equal(7);
    expect(written).to.deep.equal([]);
    await usage.flush();
    expect(written).to.deep.equal([
      ['env_a', [{ id: 'ca_1', lastUsedAt: 20 }]],
      ['env_b', [{ id: 'ca_1', lastUsedAt: 30 }]],
    ]);
  });

  it('writes nothing when no account was used', async () => {
    const { usage, written } = tracker();
    usage.touch('env_a', 'ca_1', 10);
    await usage.flush();
    await usage.flush();
    expect(written).to.have.length(1);
  });

  it('never shows an earlier time while a later one is being written', async () => {
    let shown: number | null = null;
    const { usage } = tracker(async () => {
      shown = usage.lastUsedAt('env_a', 'ca_1', 1);
    });
    usage.touch('env_a', 'ca_1', 10);
    await usage.flush();
    expect(shown).to.equal(10);
    expect(usage.lastUsedAt('env_a', 'ca_1', 10)).to.equal(10);
  });

  it('keeps the entries that could not be written, and still writes the others', async () => {
    let isBroken = true;
    const { usage, written } = tracker(async (environmentId) => {
      if (isBroken && environmentId === 'env_a') throw new Error('disk full');
    });
    usage.touch('env_a', 'ca_1', 10);
    usage.touch('env_a', 'ca_2', 11);
    usage.touch('env_b', 'ca_3', 12);
    const failure = await usage.flush().catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'disk full');
    expect(written.map(([environmentId]) => environmentId)).to.deep.equal(['env_b']);
    usage.touch('env_a', 'ca_2', 20);
    isBroken = false;
    await usage.flush();
    expect(written[1]).to.deep.equal([
      'env_a',
      [
        { id: 'ca_1', lastUsedAt: 10 },
        { id: 'ca_2', lastUsedAt: 20 },
      ],
    ]);
  });

  it('writes many entries in batches ordered by id, and keeps only the batches that failed', async () => {
    let isBroken = true;
    const { usage, written } = tracker(async (_environmentId, times) => {
      if (isBroken && times[0]?.id === 'ca_1200') throw new Error('disk full');
    });
    for (let number = 1499; number >= 1000; number--) usage.touch('env_a', `ca_${number}`, number);
    await usage.flush().catch(() => {});
    expect(written.map(([, times]) => [times[0]?.id, times.length])).to.deep.equal([
      ['ca_1000', 200],
      ['ca_1400', 100],
    ]);
    isBroken = false;
    await usage.flush();
    expect(written.slice(2).map(([, times]) => [times[0]?.id, times.length])).to.deep.equal([['ca_1200', 200]]);
  });

  it('begins no write before the previous one has ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { usage, written } = tracker(() => promise);
    usage.touch('env_a', 'ca_1', 10);
    const first = usage.flush();
    await turn();
    usage.touch('env_a', 'ca_2', 20);
    const second = usage.flush();
    await turn();
    expect(usage.lastUsedAt('env_a', 'ca_1', null)).to.equal(10);
    resolve();
    await Promise.all([first, second]);
    expect(written.map(([, times]) => times[0]?.id)).to.deep.equal(['ca_1', 'ca_2']);
  });
});
