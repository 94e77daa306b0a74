import type { Logger } from './monitoring/log.ts';

/** Work that the first request of a kind would otherwise wait for. */
export interface WarmUpStep {
  name: string;
  run(): unknown;
}

/**
 * Does work in advance, one step per event-loop turn, so that no request waits for more than one step. A failed step is
 * logged; the request that needs it tries again.
 *
 * @param pause lets requests run between two steps
 * @param isStopping whether to skip the remaining steps
 */
export async function warmUp(
  steps: readonly WarmUpStep[],
  pause: () => Promise<unknown>,
  isStopping: () => boolean,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  for (const { name, run } of steps) {
    await pause();
    if (isStopping()) return;
    try {
      await run();
    } catch (err) {
      log.warn({ err, step: name }, 'a part of the server could not be prepared in advance; its first use is slower');
    }
  }
}
