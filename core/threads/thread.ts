import { parentPort } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import type { JobModule } from './job.ts';
import type { ThreadReply, ThreadRequest } from './messages.ts';

/**
 * The code of every thread in a pool. The thread loads the module of a job with the first job that uses the module. The
 * pool gives the thread one job at a time.
 */
const port = parentPort;
port?.on('message', async ({ module, input }: ThreadRequest) => {
  port.postMessage(await replyTo(module, input));
});

async function replyTo(module: string, input: unknown): Promise<ThreadReply> {
  try {
    const { run } = (await import(module)) as JobModule<unknown, unknown>;
    port?.postMessage({ kind: 'started' } satisfies ThreadReply);
    return { kind: 'done', output: await run(input) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, errors, extra } = error;
    return { kind: 'refused', code, detail: message, errors, extra };
  }
}
