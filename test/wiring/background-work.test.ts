import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { readConfig } from '../../http/config/config.ts';
import { createLogger } from '../../http/monitoring/log.ts';
import { createApplication } from '../../wiring/create-application.ts';
import { tempDir } from '../support/temp-dir.ts';

const HOUR = 60 * 60 * 1000;

describe('background work of a server (F3, S6)', () => {
  const folder = tempDir();
  after(() => folder.remove());

  it('tolerates a store in which everything fails: each failure is logged, and none is unhandled', async () => {
    const lines: string[] = [];
    let metrics = '';
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.prependListener('unhandledRejection', listener);
    mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    try {
      const { config, secrets } = readConfig({ PORT: '0', DATA_DIR: folder.path });
      const log = createLogger('info', { write: (line) => lines.push(line) });
      const { parts } = await createApplication(config, secrets, { log });
      await parts.store.close();
      parts.usage.touch({ environmentId: 'env', id: 'ca_1' } as never);
      parts.scrubStorage();
      parts.links.expireSoon();
      mock.timers.tick(1.1 * HOUR);
      for (let turns = 0; turns < 100; turns++) await turn();
      metrics = await parts.metrics.registry.metrics();
      await parts.close();
    } finally {
      mock.timers.reset();
      process.removeListener('unhandledRejection', listener);
    }
    expect(unhandled).to.deep.equal([]);
    expect(metrics).to.match(/^valetkey_periodic_job_runs_total\{job="usage_flush",outcome="failed"\} [1-9]/m);
    const messages = new Set(lines.map((line) => JSON.parse(line).msg));
    expect([...messages]).to.include.members([
      'the times of last use of accounts were not written',
      'deleted data is still in the database files',
      'due jobs could not be read',
    ]);
  });
});
