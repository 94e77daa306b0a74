import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export interface RunningProcess {
  port: number;
  /** From the start of the process to the first successful response, in milliseconds. */
  readyMs: number;
  readonly pid: number;
  /** Microseconds of processor time so far, of the process and its children; NaN if the system does not provide it. */
  cpu(): number;
  /** Megabytes of memory in use now; NaN if the system does not provide it. */
  rss(): number;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** The arguments of Node. */
  args: string[];
  env: Record<string, string>;
  /** The path for which the process returns 200 once it is ready. */
  readyPath: string;
  /** The core to which the process is bound; null for any. */
  core: number | null;
  /** The file for standard output, because production logs go to a file or a collector too. */
  logFile: string;
}

const READY_WITHIN_MS = 30_000;
/** The unit of times in `/proc/<pid>/stat`: a hundredth of a second on every Linux that Node supports. */
const TICK_MICROSECONDS = 10_000;

/** Whether processes can be bound to one core each. Otherwise server and load generator take time from each other. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Binds this process, which generates the load, to another core than the servers. */
export function pinSelf(core: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', String(core), String(process.pid)]);
}

/** Runs work that may start processes, and finally stops all of them, even after an error. */
export async function withProcesses<T>(
  work: (start: (options: ProcessOptions) => Promise<RunningProcess>) => Promise<T>,
): Promise<T> {
  const started: (() => Promise<void>)[] = [];
  try {
    return await work((options) => startProcess(options, (stop) => started.push(stop)));
  } finally {
    await Promise.all(started.map((stop) => stop()));
  }
}

/** Starts a Node process on a core and waits until it responds. */
async function startProcess(
  options: ProcessOptions,
  onStarted: (stop: () => Promise<void>) => void,
): Promise<RunningProcess> {
  const port = await freePort();
  const command = [process.execPath, ...options.args];
  if (canPin && options.core !== null) command.unshift('taskset', '-c', String(options.core));
  const log = openSync(options.logFile, 'a');
  const startedAt = performance.now();
  const child = spawn(command[0] as string, command.slice(1), {
    env: { PATH: process.env['PATH'], ...options.env, PORT: String(port) },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  onStarted(stop);
  await untilReady(`http://127.0.0.1:${port}${options.readyPath}`, child, options.logFile);
  const pid = child.pid as number;
  return {
    port,
    pid,
    readyMs: performance.now() - startedAt,
    cpu: () => cpuOf(pid),
    rss: () => rssOf(pid),
    stop,
  };
}

async function untilReady(url: string, child: { exitCode: number | null }, logFile: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) break;
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return void (await answer.arrayBuffer());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${url} did not become ready:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
}

/**
 * Builds the server of a checkout as `make run` does. Returns the environment variable that makes the server start from
 * the built files; returns no variable for older versions, which have no build.
 */
export function builtServer(root: string): Record<string, string> {
  const script = join(root, 'scripts/build-server.ts');
  if (!existsSync(script)) return {};
  execFileSync(process.execPath, [script], { stdio: 'inherit' });
  return { VALETKEY_BUILT: '1' };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function cpuOf(pid: number): number {
  const children = readProc(pid, `task/${pid}/children`)?.match(/\d+/g) ?? [];
  return children.reduce((sum, child) => sum + cpuOf(Number(child)), ownCpuOf(pid));
}

function ownCpuOf(pid: number): number {
  // The second field is a name in parentheses, which may contain spaces; user and system time are the 12th and 13th
  // fields after it.
  const fields = readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return fields ? (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS : Number.NaN;
}

function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status') ?? '')?.[1];
  return kilobytes ? Number(kilobytes) / 1024 : Number.NaN;
}

function readProc(pid: number, name: string): string | null {
  try {
    return readFileSync(join('/proc', String(pid), name), 'utf8');
  } catch {
    return null;
  }
}
