import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The name that Node gives to the threads of V8's pool. */
const POOL_THREAD = 'V8Worker';
/**
 * With this nice value, a thread gets 39 % of a core for which it competes with the event loop. With a lower priority,
 * garbage is collected later, so the server takes more memory.
 */
const NICE = 2;

/**
 * Lowers the priority of the threads that collect garbage and compile for V8. Otherwise each of them can delay the
 * event loop by 4 ms at a time, if the server has a single core or all cores are busy. On systems other than Linux, the
 * nice value belongs to the whole process, so this function does nothing there.
 */
export function lowerBackgroundPriority(): void {
  for (const thread of threadsOfProcess()) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
      if (name === POOL_THREAD) setPriority(Number(thread), NICE);
    } catch {
      // The thread has ended, or the system does not allow the change. The server works without it.
    }
  }
}

function threadsOfProcess(): string[] {
  try {
    return readdirSync('/proc/self/task');
  } catch {
    return [];
  }
}
