import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface Reply<Answer> {
  answer: Answer;
  memoryBytes: number;
}

/**
 * A process that does one job at a time. It is replaced if it hangs or ends. It is not a thread, because a thread that
 * exhausts its memory can end the whole process.
 */
export class Helper<Answer> {
  readonly #file: URL;
  readonly #limitMs: number;
  #process: ChildProcess | undefined;
  /** The largest resident memory of the processes that returned results. */
  memoryBytes = 0;

  constructor(file: URL, limitMs: number) {
    this.#file = file;
    this.#limitMs = limitMs;
  }

  /** Gives the process a job. @returns the result; if it hung or ended, a text with the reason */
  async ask(question: object): Promise<Answer | string> {
    this.#process ??= fork(this.#file, { execArgv: ['--max-old-space-size=900'], serialization: 'advanced' });
    const tooLong = AbortSignal.timeout(this.#limitMs);
    const answered = new AbortController();
    const signal = AbortSignal.any([tooLong, answered.signal]);
    const message = once(this.#process, 'message', { signal }).then(([reply]) => reply as Reply<Answer>);
    const exit = once(this.#process, 'exit', { signal }).then(([code, killer]) => `ended with ${killer ?? code}`);
    this.#process.send(question);
    try {
      const reply = await Promise.race([message, exit]);
      if (typeof reply === 'string') {
        this.#process = undefined;
        return reply;
      }
      this.memoryBytes = Math.max(this.memoryBytes, reply.memoryBytes);
      return reply.answer;
    } catch (error) {
      this.end();
      return tooLong.aborted ? `takes more than ${this.#limitMs / 1000} s` : String(error);
    } finally {
      answered.abort();
    }
  }

  end(): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }
}

/** Runs the jobs of a `Helper` in its process. */
export function answerWith<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('message', async (question: Question) => {
    const reply: Reply<unknown> = {
      answer: await answer(question),
      memoryBytes: process.resourceUsage().maxRSS * 1024,
    };
    process.send?.(reply);
  });
}
