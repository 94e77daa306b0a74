import { ApiError } from '../errors.ts';

/** The storage limits for one kind of object in an environment. */
export interface Space {
  /** The kind, in the plural, for the error. */
  kind: string;
  /** The part of the objects whose size is limited, as the error names it, such as `settings`. */
  sized: string;
  count: number;
  bytes: number;
  /** Returns what the environment stores now, within the transaction. */
  totals(): Promise<{ count: number; size: number }>;
}

/**
 * Runs a write of the transaction, and rejects it if the environment then stores too much, because some operations read
 * all of it. Beyond the limit, only changes that make nothing larger are accepted.
 *
 * @throws ApiError VALIDATION_FAILED, which rolls the transaction back
 */
export async function writeWithinSpace<T>(space: Space, write: () => Promise<T>): Promise<T> {
  const { kind, sized, count: most, bytes, totals } = space;
  const before = await totals();
  const written = await write();
  const { count, size } = await totals();
  if (count <= Math.max(before.count, most) && size <= Math.max(before.size, bytes)) return written;
  throw limitReached(kind, `at most ${most} ${kind}, with ${sized} of at most ${bytes} bytes in total.`);
}

/**
 * Returns the error of an environment that stores as much of a kind as it can.
 *
 * @param kind in the plural
 * @param limit what it can have, such as `at most 5 that are enabled.`, with a sentence that helps
 */
export function limitReached(kind: string, limit: string): ApiError {
  return new ApiError('VALIDATION_FAILED', `The environment has reached its limit for ${kind}: it can have ${limit}`);
}
