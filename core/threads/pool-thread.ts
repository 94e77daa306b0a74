import { Worker } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import { type Job, JobLimitError, type JobThread } from './job.ts';
import type { ThreadReply, ThreadRequest } from './messages.ts';

const MIB = 1024 * 1024;
/**
 * A thread that has not loaded the code of its job after this time is ended. On a busy machine, loading takes seconds.
 */
const START_MS = 30_000;
/** The stack size: enough for recursive code on data with the maximum nesting. */
const STACK_MIB = 4;
const YOUNG_MIB = 16;

interface Running {
  timeMs: number;
  resolve(output: unknown): void;
  reject(error: unknown): void;
  timer: NodeJS.Timeout;
}

/** A worker thread of Node. It is ended if a job exceeds its limits. */
export class PoolThread implements JobThread {
  readonly #worker: Worker;
  #running: Running | undefined;
  #ended = false;

  /** @param heapBytes the heap size at which the thread is ended */
  constructor(heapBytes: number) {
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), {
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(heapBytes / MIB),
        maxYoungGenerationSizeMb: YOUNG_MIB,
        stackSizeMb: STACK_MIB,
      },
      // Jobs receive everything in their input. The environment variables are not passed on, because they may contain
      // keys.
      env: {},
      execArgv: [],
    });
    this.#worker.on('message', (reply: ThreadReply) => this.#receive(reply));
    this.#worker.on('messageerror', (error) => this.#fail(error));
    this.#worker.on('error', (error) => this.#fail(isOutOfMemory(error) ? new JobLimitError('memory') : error));
    this.#worker.on('exit', () => this.#fail(new Error('The thread exited.')));
    this.#worker.unref();
  }

  get usable(): boolean {
    return !this.#ended;
  }

  run<I, O>({ module, timeMs }: Job<I, O>, input: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(new Error('The thread did not start.')), START_MS);
      this.#running = { timeMs, resolve: resolve as (output: unknown) => void, reject, timer };
      this.#worker.ref();
      try {
        this.#worker.postMessage({ module: module.href, input } satisfies ThreadRequest);
      } catch (error) {
        // The input cannot be copied. Nothing was sent, so the thread can run other jobs.
        this.#settle()?.reject(error);
      }
    });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#worker.terminate();
  }

  #receive(reply: ThreadReply): void {
    const running = this.#running;
    if (!running) return;
    if (reply.kind === 'started') {
      clearTimeout(running.timer);
      running.timer = setTimeout(() => this.#fail(new JobLimitError('time')), running.timeMs);
      return;
    }
    this.#settle();
    if (reply.kind === 'done') running.resolve(reply.output);
    else running.reject(refusal(reply));
  }

  #fail(error: unknown): void {
    this.#ended = true;
    void this.#worker.terminate();
    this.#settle()?.reject(error);
  }

  /** Returns the job that was running, and marks the thread as free. */
  #settle(): Running | undefined {
    const running = this.#running;
    this.#running = undefined;
    clearTimeout(running?.timer);
    this.#worker.unref();
    return running;
  }
}

function refusal({ code, detail, errors, extra }: ThreadReply & { kind: 'refused' }): ApiError {
  return new ApiError(code, detail, { ...(errors && { errors }), ...(extra && { extra }) });
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
