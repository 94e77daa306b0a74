import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const COMMAND = join(import.meta.dirname, '../../cli/valetkey.js');

/** Makes a running server execute a statement when it receives SIGUSR2. */
const onSignal = (statement: string) => `process.once('SIGUSR2', () => { ${statement} });`;

const FAULTS: Record<string, string> = {
  'a throw in a timer': `setTimeout(() => { throw new Error('planted') }, 0)`,
  'a throw in an interval': `setInterval(() => { throw new Error('planted') }, 5)`,
  'a throw in a turn': `setImmediate(() => { throw new Error('planted') })`,
  'a throw in a tick': `process.nextTick(() => { throw new Error('planted') })`,
  'a promise that is rejected': `Promise.reject(new Error('planted'))`,
  'an event of an error': `import('node:events').then(({ EventEmitter }) => new EventEmitter().emit('error', new Error('planted')))`,
};

describe('an uncaught error (S6)', () => {
  for (const [what, statement] of Object.entries(FAULTS)) {
    it(`ends the server in order after ${what}: it is logged, and the database is closed`, async () => {
      const folder = tempDir();
      const server = await startChildServer({ DATA_DIR: folder.path }, { before: onSignal(statement) });
      const { code, signal } = await server.stop('SIGUSR2');
      expect([code, signal]).to.deep.equal([1, null]);
      const fatal = server.logs.map((line) => JSON.parse(line)).filter(({ level }) => level === 60);
      expect(fatal[0].err.message).to.equal('planted');
      // SQLite removes the log when the last connection is closed, so this shows that the server closed its database.
      expect(existsSync(join(folder.path, 'valetkey.db-wal'))).to.equal(false);
      folder.remove();
    });
  }
});

describe('a log that cannot be written (F3)', () => {
  for (const [what, output] of [
    ['on a full disk', openSync('/dev/full', 'w')],
    ['to a pipe that was closed', 'pipe'],
  ] as const)
    it(`does not end the server ${what}: it continues to serve, and stops when told to`, () => servesAndStops(output));

  async function servesAndStops(output: number | 'pipe'): Promise<void> {
    const folder = tempDir();
    const port = await freePort();
    const child = spawn(process.execPath, [COMMAND, 'serve'], {
      env: { DATA_DIR: folder.path, PORT: String(port), METRICS_PORT: '0' },
      stdio: ['ignore', output, output],
    });
    // Closes the reading ends of the pipes, as if their reader had ended.
    child.stdout?.destroy();
    child.stderr?.destroy();
    const ended = once(child, 'exit');
    const isServing = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        (response) => response.ok,
        () => false,
      );
    while (!(await isServing()) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
    // A log line may be written only some time later, so requests are repeated for a second.
    for (let i = 0; i < 40; i++) {
      expect(await isServing()).to.equal(true);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
    folder.remove();
  }
});
