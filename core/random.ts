const POOL_BYTES = 4096;
/** Larger requests go to the source directly. */
const SMALL = 64;

/**
 * Random bytes from a supply: to ask the system for sixteen bytes takes longer than to seal a token with them. What is handed out is a
 * copy and is wiped from the supply, so nothing can be seen there before or after its use.
 *
 * @param source of random bytes
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

/** A random number, at least 0 and less than 1. */
export function fraction(random: (size: number) => Buffer): number {
  return random(4).readUInt32BE() / 2 ** 32;
}
