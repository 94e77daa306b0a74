const POOL_BYTES = 4096;
/** Requests for more bytes than this bypass the pool. */
const SMALL = 64;

/**
 * Creates a source that takes random bytes from a pool, because requesting sixteen bytes from the operating system
 * takes longer than encrypting a token with them. Returned bytes are overwritten in the pool, so they cannot be read
 * there later.
 *
 * @param source returns the given number of random bytes
 */
export function createRandom(source: (size: number) => Buffer): (size: number) => Buffer {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (size > SMALL) return source(size);
    if (used + size > pool.length) {
      pool = Buffer.from(source(POOL_BYTES));
      used = 0;
    }
    const taken = Buffer.from(pool.subarray(used, used + size));
    pool.fill(0, used, used + size);
    used += size;
    return taken;
  };
}

/** Returns a random number that is at least 0 and less than 1. */
export function fraction(random: (size: number) => Buffer): number {
  return random(4).readUInt32BE() / 2 ** 32;
}
