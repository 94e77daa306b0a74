import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { startFlags } from '../start-flags.ts';
import type { Longest } from './prober.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The options of `npm start`. */
const FLAGS = [...startFlags(ROOT), '--disable-sigusr1'];
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;

/** The real server in a separate process, with a prober. */
export interface WatchedServer {
  port: number;
  pid: number;
  /** undefined while the server runs; otherwise how it ended. */
  ended(): string | undefined;
  /** Returns the memory in use now, in MiB. */
  rss(): number;
  /** Returns the highest memory use since `forget`. */
  peakRss(): number;
  forget(): void;
  /** Returns the longest wait of the prober since the last call. */
  longest(): Promise<Longest>;
  stop(): Promise<void>;
}

export async function startWatched(port: number, env: Record<string, string>, logFile: string): Promise<WatchedServer> {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [...FLAGS, join(ROOT, 'cli/valetkey.js'), 'serve'], {
    env: { PATH: process.env['PATH'], MALLOC_ARENA_MAX: '1', PORT: String(port), ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exited = once(child, 'exit');
  let end: string | undefined;
  void exited.then(([code, signal]) => {
    end = `ended with ${signal ?? code}`;
  });
  const pid = child.pid as number;
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await exited;
    clearTimeout(timer);
  };
  await untilReady(port, () => end, logFile).catch(async (error) => {
    await stop();
    throw error;
  });
  const prober = new Worker(new URL('./prober.ts', import.meta.url), { workerData: { port, pid } });
  return {
    port,
    pid,
    ended: () => end,
    rss: () => memory(pid, 'VmRSS'),
    peakRss: () => memory(pid, 'VmHWM'),
    forget: () => {
      // Resets the peak memory use on Linux (proc(5)).
      try {
        writeFileSync(`/proc/${pid}/clear_refs`, '5');
      } catch {
        // If the peak cannot be reset, `peakRss` returns the peak since the start of the process.
      }
    },
    longest: async () => {
      prober.postMessage('longest');
      const [longest] = (await once(prober, 'message')) as [Longest];
      return longest;
    },
    stop: async () => {
      await prober.terminate();
      await stop();
    },
  };
}

async function untilReady(port: number, ended: () => string | undefined, logFile: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline && ended() === undefined) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`The server did not become ready:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
}

function memory(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
