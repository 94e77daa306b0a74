/** Error codes of the system and of Node for a lack of file descriptors, buffers, memory or threads. */
const CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'ERR_WORKER_INIT_FAILED']);
const MAX_CAUSES = 5;

/**
 * Whether an error, or one of its causes, means that the process or the machine has no file descriptors, memory or
 * threads left. The operation may succeed if it is tried again soon.
 */
export function isExhausted(error: unknown): boolean {
  let one = error;
  for (let depth = 0; depth < MAX_CAUSES && one instanceof Error; depth++) {
    if ('code' in one && CODES.has(String(one.code))) return true;
    one = one.cause;
  }
  return false;
}
