/** Kinds of identifiers by prefix. */
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
  | 'whk'
  | 'areq'
  | 'job';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** The two characters of each number below 1,024: an id is written ten bits at a time. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);
const RANDOM_BYTES = 10;
const TEN_BITS = 1024;
const FORTY_BITS = TEN_BITS ** 4;

/** 48 bits of milliseconds below two zero bits: 10 characters. */
function encodeTime(ms: number): string {
  const high = Math.floor(ms / TEN_BITS ** 2);
  const low = ms % TEN_BITS ** 2;
  return `${pair(high / TEN_BITS ** 2)}${pair(high / TEN_BITS)}${pair(high)}${pair(low / TEN_BITS)}${pair(low)}`;
}

/** 40 bits: 8 characters. */
function encode40(value: number): string {
  return `${pair(value / TEN_BITS ** 3)}${pair(value / TEN_BITS ** 2)}${pair(value / TEN_BITS)}${pair(value)}`;
}

/** The last ten bits of a whole number, which may have a fraction after a division. */
function pair(value: number): string {
  return PAIRS[Math.floor(value) % TEN_BITS] as string;
}

/**
 * Makes identifiers whose text order is the order of creation: 48 bits of milliseconds, then 80 random bits, in Crockford
 * base 32 (26 characters). Two ids of one millisecond are ordered too: the random part of the later one is the former's plus one.
 *
 * @param now milliseconds UTC
 * @param random source of random bytes
 * @returns a function from a prefix to a fresh id such as `ca_01jd…`
 */
export function createIds(now: () => number, random: (size: number) => Buffer): (prefix: IdPrefix) => string {
  let lastTime = -1;
  // What ids of one millisecond have in common, and the number of the last one.
  let head = '';
  let timeText = '';
  let high = 0;
  let low = 0;
  return (prefix) => {
    const time = now();
    if (time > lastTime) {
      lastTime = time;
      timeText = encodeTime(time);
      const entropy = random(RANDOM_BYTES);
      high = entropy.readUIntBE(0, 5);
      low = entropy.readUIntBE(5, 5);
      head = timeText + encode40(high);
    } else if (++low === FORTY_BITS) {
      // Also taken when the clock steps back: order of creation matters more than the clock here.
      low = 0;
      high = (high + 1) % FORTY_BITS;
      head = timeText + encode40(high);
    }
    return `${prefix}_${head}${encode40(low)}`;
  };
}
