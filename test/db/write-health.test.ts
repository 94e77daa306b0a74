import { expect } from 'chai';
import { StorageError } from '../../db/errors.ts';
import { createWriteHealth } from '../../db/write-health.ts';

describe('the health of writes (F11)', () => {
  const full = new StorageError('SQLITE_FULL', 'the disk is full');

  function setUp() {
    const said: string[] = [];
    const health = createWriteHealth({
      failed: ({ code }, first) => said.push(`${code}${first ? ' first' : ''}`),
      worksAgain: () => said.push('works'),
    });
    let probes = 0;
    const probe = (outcome: 'works' | 'fails' = 'works') =>
      health.probe(async () => {
        probes++;
        if (outcome === 'works') return;
        health.failed(full);
        throw full;
      });
    return { health, said, probe, probes: () => probes };
  }

  it('writes nothing to find out while nothing has failed', async () => {
    const { probe, probes, health } = setUp();
    await probe();
    expect([probes(), health.failing()]).to.deep.equal([0, null]);
  });

  it('fails with the first failure, and works again after an interval without one', async () => {
    const { health, said, probe } = setUp();
    health.failed(full);
    expect(health.failing()).to.equal(full);
    await probe();
    expect(health.failing(), 'there was a failure in the interval before').to.equal(full);
    await probe();
    expect(health.failing()).to.equal(null);
    expect(said).to.deep.equal(['SQLITE_FULL first', 'works']);
  });

  it('does not work again while some writes fail, though others do not', async () => {
    const { health, said, probe } = setUp();
    for (let interval = 0; interval < 5; interval++) {
      health.failed(full);
      await probe();
      expect(health.failing()).to.equal(full);
    }
    expect(said).to.deep.equal(['SQLITE_FULL first', ...Array(4).fill('SQLITE_FULL')]);
  });

  it('does not work again while the probe fails', async () => {
    const { health, probe } = setUp();
    health.failed(full);
    for (const outcome of ['works', 'fails', 'works', 'fails', 'fails'] as const) {
      await probe(outcome);
      expect(health.failing()).to.equal(full);
    }
    await probe();
    await probe();
    expect(health.failing()).to.equal(null);
  });
});
