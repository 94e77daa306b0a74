import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A process that was started here, with its output so far. */
export interface RunningProcess {
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Stops the process as an operator would (SIGTERM) and returns its exit code; a process that has already ended is
   * accepted.
   */
  stop(): Promise<number | null>;
}

/** The limit only detects a hang: a loaded machine takes a minute to start a database and a server. */
const PATIENCE_MS = 300_000;

/**
 * Starts a command and waits until its standard output shows that it is ready.
 *
 * @param ready the pattern to wait for; its match is returned
 * @param env the environment variables of the process besides PATH and HOME; no others are inherited
 * @throws Error with the output of the process, if it ends or does not become ready
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  ready: RegExp,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<{ process: RunningProcess; match: RegExpExecArray }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, { cwd, env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  const running: RunningProcess = {
    get stdout() {
      return printed.stdout;
    },
    get stderr() {
      return printed.stderr;
    },
    stop: () => stop(child),
  };
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`${command} ${args.join(' ')} ${reason}:\n${printed.stdout}${printed.stderr}`));
    const timer = setTimeout(() => fail('was not ready in time'), PATIENCE_MS);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with ${code}`));
    child.stdout.on('data', () => {
      const found = ready.exec(printed.stdout);
      if (!found) return;
      clearTimeout(timer);
      resolve(found);
    });
  }).catch(async (error) => {
    await stop(child);
    throw error;
  });
  return { process: running, match };
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
  return child.exitCode;
}

/**
 * Returns a loopback port on which nothing listens. It is below the range of ephemeral ports, so that no other program
 * gets it before the caller uses it. It is above 10080, the highest port that browsers block.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 30_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
