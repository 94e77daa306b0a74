/** What the system says when this process may open nothing more: files, sockets, threads. */
const CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'ERR_WORKER_INIT_FAILED']);
const MAX_CAUSES = 5;

/** Whether something failed because this process, or its machine, has no descriptor or memory left. It may work again soon. */
export function isExhausted(error: unknown): boolean {
  let one = error;
  for (let depth = 0; depth < MAX_CAUSES && one instanceof Error; depth++) {
    if ('code' in one && CODES.has(String(one.code))) return true;
    one = one.cause;
  }
  return false;
}
