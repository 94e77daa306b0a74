import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Subjects } from './operations.ts';
import type { Task, TaskResult } from './worker.ts';

/** A process with its own store. */
export interface Worker {
  run(task: Task): Promise<TaskResult>;
  stop(): Promise<void>;
}

export async function startWorker(location: string, subjects: Subjects): Promise<Worker> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'worker.ts'), JSON.stringify({ location, subjects })],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('a worker of the benchmark ended early');
    return value as string;
  };
  await next();
  return {
    async run(task) {
      child.stdin?.write(`${JSON.stringify(task)}\n`);
      return JSON.parse(await next()) as TaskResult;
    },
    async stop() {
      child.stdin?.end();
      await ended;
    },
  };
}
