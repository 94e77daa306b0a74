/**
 * Resolves with the result of work, or rejects with the reason of a signal that is aborted first. The work itself
 * continues.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const settled = () => signal.removeEventListener('abort', abort);
    work.then(resolve, reject).finally(settled);
  });
}
