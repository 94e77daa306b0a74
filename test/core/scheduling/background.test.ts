import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { inBackground } from '../../../core/scheduling/background.ts';

describe('background work (F3)', () => {
  const cases: Record<string, () => unknown> = {
    'throws immediately': () => {
      throw new Error('the disk is full');
    },
    rejects: () => Promise.reject(new Error('the disk is full')),
    'rejects later': async () => {
      await turn();
      throw new Error('the disk is full');
    },
  };
  for (const [what, work] of Object.entries(cases)) {
    it(`reports work that ${what}, and leaves no unhandled rejection`, async () => {
      const told = new Promise<unknown>((resolve) => inBackground(work, resolve));
      expect(await told).to.have.property('message', 'the disk is full');
    });

    it(`tolerates a report that fails as well, for work that ${what}`, async () => {
      const unhandled: unknown[] = [];
      const listener = (error: unknown) => unhandled.push(error);
      process.prependListener('unhandledRejection', listener);
      inBackground(work, () => {
        throw new Error('the log is full');
      });
      for (let turns = 0; turns < 5; turns++) await turn();
      process.removeListener('unhandledRejection', listener);
      expect(unhandled).to.deep.equal([]);
    });
  }
});
