import { expect } from 'chai';
import { StorageError } from '../../db/store.ts';
import { createLogger } from '../../http/monitoring/log.ts';

describe('failures of the storage in the log (F11)', () => {
  function setUp() {
    const lines: string[] = [];
    const clock = { now: 1_000_000 };
    const log = createLogger('info', { write: (line) => lines.push(JSON.parse(line).msg) }, { now: () => clock.now });
    return { log, lines, clock };
  }
  const full = () => ({ err: new StorageError('SQLITE_FULL', 'the disk is full') });

  it('are logged once a minute for each place and code', () => {
    const { log, lines, clock } = setUp();
    for (let i = 0; i < 100; i++) log.error(full(), 'request failed');
    log.error(full(), 'a job failed');
    log.error({ err: new StorageError('SQLITE_IOERR', 'the disk is broken') }, 'a job failed');
    expect(lines).to.deep.equal(['request failed', 'a job failed', 'a job failed']);
    clock.now += 60_000;
    log.error(full(), 'request failed');
    clock.now -= 600_000;
    log.error(full(), 'request failed');
    expect(lines.slice(3)).to.deep.equal(['request failed', 'request failed']);
  });

  it('are the only lines that are omitted', () => {
    const { log, lines } = setUp();
    for (let i = 0; i < 3; i++) {
      log.error({ err: new Error('a fault') }, 'request failed');
      log.info('a line');
      log.info({ pid: 1 }, 'another');
    }
    expect(lines).to.have.length(9);
  });
});
