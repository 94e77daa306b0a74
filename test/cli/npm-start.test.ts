import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { ROOT } from '../flows/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';

const NPM_START = ['npm', 'start', '--silent'] as const;
const PLAIN_START = [process.execPath, 'cli/valetkey.js', 'serve'] as const;

/** Starts the server as `npm start` does, or runs another command. */
async function npmStart(dataDir: string, [command, ...args]: readonly [string, ...string[]] = NPM_START) {
  const env = { PATH: process.env['PATH'], HOME: dataDir, DATA_DIR: dataDir, PORT: '0', METRICS_PORT: '0' };
  const npm = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  npm.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  for await (const line of createInterface({ input: npm.stdout })) {
    if (!line.startsWith('{')) continue;
    const { msg, origin, pid } = JSON.parse(line) as { msg: string; origin: string; pid: number };
    if (msg !== 'listening') continue;
    let later = '';
    npm.stdout.on('data', (chunk) => {
      later += chunk;
    });
    return { npm, origin, pid, errors: () => errors, later: () => later };
  }
  throw new Error(`npm start ended: ${errors}`);
}

describe('npm start', () => {
  let folder: ReturnType<typeof tempDir>;
  let pid: number | undefined;

  beforeEach(() => {
    folder = tempDir();
  });
  afterEach(() => {
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    folder.remove();
  });

  it('F17: ends the server when npm receives a signal', async () => {
    const server = await npmStart(folder.path);
    pid = server.pid;
    expect(isAlive(pid)).to.equal(true);
    // The output of npm is closed only when the server, which writes to it as well, has ended.
    const closed = once(server.npm, 'close');
    server.npm.kill('SIGTERM');
    await closed;
    expect(isAlive(pid)).to.equal(false);
  });

  for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
    it(`F17: ends the server when npm is ended by ${signal}, which npm does not pass on`, async () => {
      const server = await npmStart(folder.path);
      pid = server.pid;
      const closed = once(server.npm, 'close');
      server.npm.kill(signal);
      // The server also holds the output of npm, which is closed when both have ended.
      await closed;
      expect(server.later()).to.include('"msg":"stopping"');
    });
  }

  it('F17: ends the server in order when its terminal is closed', async () => {
    const server = await npmStart(folder.path, PLAIN_START);
    pid = server.pid;
    const closed = once(server.npm, 'close');
    process.kill(pid, 'SIGHUP');
    expect((await closed)[0]).to.equal(0);
  });

  for (const [how, command] of [
    ['as npm starts it', NPM_START],
    ['without the option of Node', PLAIN_START],
  ] as const) {
    it(`L5: opens no debugger at SIGUSR1 ${how}`, async () => {
      const server = await npmStart(folder.path, command);
      pid = server.pid;
      process.kill(pid, 'SIGUSR1');
      expect((await fetch(`${server.origin}/healthz`)).status).to.equal(200);
      const closed = once(server.npm, 'close');
      process.kill(pid, 'SIGTERM');
      await closed;
      expect(server.errors()).not.to.include('Debugger');
    });
  }

  it('has a single thread of V8 with a lower priority than the event loop', async function () {
    if (!existsSync('/proc/self/task')) return this.skip();
    const server = await npmStart(folder.path);
    pid = server.pid;
    const threads = threadsOf(pid);
    expect(threads.find(({ id }) => id === pid)).to.include({ niceness: 0 });
    const pool = threads.filter(({ name }) => name === 'V8Worker').map(({ niceness }) => niceness);
    expect(pool).to.deep.equal([2]);
  });
});

function threadsOf(pid: number): { id: number; name: string; niceness: number }[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => {
    const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8');
    // The name in parentheses may contain spaces. The fields after it begin with the third one; niceness is the 19th.
    const [name, fields] = [
      stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
      stat.slice(stat.lastIndexOf(')') + 2),
    ];
    return { id: Number(id), name, niceness: Number(fields.split(' ')[16]) };
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
