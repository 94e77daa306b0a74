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
 * Runs a write, and rejects it if the environment then stores more objects or bytes than the limit. There is a limit,
 * because some operations read all objects of the kind. If the environment already exceeds the limit, it accepts writes
 * that do not increase the count or the size.
 *
 * @throws ApiError VALIDATION_FAILED, which rolls the transaction back
 */
export async function writeWithinSpace<T>(space: Space, write: () => Promise<T>): Promise<T> {
  const { kind, sized, count: most, bytes, totals } = space;
  const before = await totals();
  const written = await write();
  const { count, size } = await totals();
  if (count <= Math.max(before.count, most) && size <= Math.max(before.size, bytes)) return written;
  const limit = `at most ${most} ${kind}, with ${sized} of at most ${bytes} bytes in total`;
  throw limitReached(kind, `${limit}. Delete some that are not used.`);
}

/**
 * Returns the error for an environment that has reached a storage limit.
 *
 * @param kind in the plural
 * @param limit the end of the error text: the limit, and optionally advice, such as `at most 5 that are enabled.
 * Disable …`
 */
export function limitReached(kind: string, limit: string): ApiError {
  return new ApiError('VALIDATION_FAILED', `The environment has reached its limit for ${kind}: it can have ${limit}`);
}
