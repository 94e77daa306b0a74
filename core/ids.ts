/** The prefixes of identifiers, one for each kind of object. */
export type IdPrefix =
  | 'env'
  | 'ca'
  | 'conn'
  | 'prv'
  | 'tool'
  | 'exec'
  | 'inst'
  | 'file'
  | 'evt'
  | 'cli'
  | 'sec'
  | 'req'
  | 'aud'
  | 'mcp'
  | 'ocl'
  | 'psn'
  | 'lgn'
  | 'lgp'
  | 'grt'
  | 'whk'
  | 'whd'
  | 'areq'
  | 'ops'
  | 'job';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** The two characters of each number below 1,024, because an id is written ten bits at a time. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);
const RANDOM_BYTES = 10;
const TEN_BITS = 1024;
const FORTY_BITS = TEN_BITS ** 4;

/** Encodes 48 bits of milliseconds, preceded by two zero bits, in 10 characters. */
function encodeTime(ms: number): string {
  const high = Math.floor(ms / TEN_BITS ** 2);
  const low = ms % TEN_BITS ** 2;
  return `${pair(high / TEN_BITS ** 2)}${pair(high / TEN_BITS)}${pair(high)}${pair(low / TEN_BITS)}${pair(low)}`;
}

/** Encodes 40 bits in 8 characters. */
function encode40(value: number): string {
  return `${pair(value / TEN_BITS ** 3)}${pair(value / TEN_BITS ** 2)}${pair(value / TEN_BITS)}${pair(value)}`;
}

/** Encodes the last ten bits of a number; a fraction is ignored. */
function pair(value: number): string {
  return PAIRS[Math.floor(value) % TEN_BITS] as string;
}

/**
 * Creates identifiers whose text order is their order of creation: 48 bits of milliseconds, then 80 random bits, in
 * Crockford base 32 (26 characters). If several ids are created in one millisecond, the random part of each further id
 * is that of the previous one plus one, so that these ids are ordered too.
 *
 * @param now milliseconds UTC
 * @param random source of random bytes
 * @returns a function that creates an id such as `ca_01jd…` from a prefix
 */
export function createIds(now: () => number, random: (size: number) => Buffer): (prefix: IdPrefix) => string {
  let lastTime = -1;
  // `head` is the part of the latest id before `low`. `high` and `low` are the halves of its 80-bit random number.
  let head = '';
  let timeText = '';
  let high = 0;
  let low = 0;
  return (prefix) => {
    const time = now();
    // If the clock goes back, ids keep the latest time, so that their order stays the order of creation.
    if (time > lastTime) {
      lastTime = time;
      timeText = encodeTime(time);
      const entropy = random(RANDOM_BYTES);
      high = entropy.readUIntBE(0, 5);
      low = entropy.readUIntBE(5, 5);
      head = timeText + encode40(high);
    } else if (++low === FORTY_BITS) {
      low = 0;
      high = (high + 1) % FORTY_BITS;
      head = timeText + encode40(high);
    }
    return `${prefix}_${head}${encode40(low)}`;
  };
}
