import cluster, { type Worker } from 'node:cluster';
import type { Readable } from 'node:stream';
import { forwardLines } from './forward-lines.ts';
import type { FromProcess, ToProcess } from './messages.ts';
import { closeOfferedConnection } from './offered-connection.ts';

/** One process of the server, from its start to its end. */
export interface OneProcess {
  readonly pid: number;
  /** The message that the process sent when it became ready; null before that, and after its end. */
  ready: Extract<FromProcess, { kind: 'ready' }> | null;
  /** Resolves when the process has ended and its output was passed on. */
  readonly ended: Promise<Ended>;
  tell(message: ToProcess): void;
  kill(signal: NodeJS.Signals): void;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  wasReady: boolean;
  /** How long the process was ready, in milliseconds. */
  readyMs: number;
  /** Why its start failed, for the operator; undefined if it has not reported a reason. */
  failure: string | undefined;
}

interface Listeners {
  ready(message: Extract<FromProcess, { kind: 'ready' }>): void;
  metrics(message: Extract<FromProcess, { kind: 'metrics' }>): void;
  /** Receives complete lines of its log. */
  log(lines: string): void;
}

/** Starts a process of the server, with the command line of the parent. @throws Error of the operating system */
export function startProcess(start: Extract<ToProcess, { kind: 'start' }>, listeners: Listeners): OneProcess {
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const worker = cluster.fork();
  closeOfferedConnection(worker.process);
  const output = worker.process.stdout as Readable;
  forwardLines(output, listeners.log);
  let readyAt = Number.POSITIVE_INFINITY;
  let failure: string | undefined;
  worker.on('message', (message: FromProcess) => {
    if (message.kind === 'failed') failure = message.message;
    if (message.kind === 'metrics') listeners.metrics(message);
    if (message.kind !== 'ready') return;
    readyAt = performance.now();
    one.ready = message;
    listeners.ready(message);
  });
  // The process may end while a message is sent to it.
  worker.on('error', () => {});
  const one: OneProcess = {
    pid: worker.process.pid ?? 0,
    ready: null,
    ended: endOf(worker).then(({ code, signal }) => {
      one.ready = null;
      const readyMs = Math.max(0, performance.now() - readyAt);
      return { code, signal, wasReady: Number.isFinite(readyAt), readyMs, failure };
    }),
    tell: (message) => void (worker.isConnected() && worker.send(message)),
    kill: (signal) => void worker.process.kill(signal),
  };
  one.tell(start);
  return one;
}

/**
 * Waits for the event `close`. The event `error` does not show that the process has ended: it also occurs if a signal
 * or a message could not be sent.
 */
function endOf({ process }: Worker): Promise<Pick<Ended, 'code' | 'signal'>> {
  return new Promise((resolve) => process.once('close', (code, signal) => resolve({ code, signal })));
}
