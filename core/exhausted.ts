/** Error codes of the system and of Node when the process cannot open more files, sockets or threads. */
const CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'ERR_WORKER_INIT_FAILED']);
const MAX_CAUSES = 5;

/**
 * Whether an error means that the process or the machine has no file descriptors or memory left. The operation may work
 * again soon.
 */
export function isExhausted(error: unknown): boolean {
  let one = error;
  for (let depth = 0; depth < MAX_CAUSES && one instanceof Error; depth++) {
    if ('code' in one && CODES.has(String(one.code))) return true;
    one = one.cause;
  }
  return false;
}
