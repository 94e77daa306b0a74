/** Kinds of identifiers by prefix. */
export type IdPrefix =
  | 'env'
  | 'ca'
  | 'conn'
  | 'prv'
  | 'tool'
  | 'exec'
  | 'evt'
  | 'cli'
  | 'sec'
  | 'req'
  | 'aud'
  | 'mcp'
  | 'whk'
  | 'areq'
  | 'out';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_BYTES = 10;

function encodeTime(ms: number): string {
  let rest = ms;
  let out = '';
  for (let i = 0; i < TIME_CHARS; i++) {
    out = ALPHABET[rest % 32] + out;
    rest = Math.floor(rest / 32);
  }
  return out;
}

function encodeRandom(bytes: Buffer): string {
  let out = '';
  for (let group = 0; group < RANDOM_BYTES; group += 5) {
    const high = bytes.readUInt8(group) * 0x100 + bytes.readUInt8(group + 1);
    const low = bytes.readUIntBE(group + 2, 3);
    let value = high * 0x1000000 + low;
    let chunk = '';
    for (let i = 0; i < 8; i++) {
      chunk = ALPHABET[value % 32] + chunk;
      value = Math.floor(value / 32);
    }
    out += chunk;
  }
  return out;
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
  let entropy: Buffer = Buffer.alloc(RANDOM_BYTES);
  return (prefix) => {
    const time = now();
    if (time > lastTime) {
      lastTime = time;
      entropy = Buffer.from(random(RANDOM_BYTES));
    } else {
      // Also taken when the clock steps back: order of creation matters more than the clock here.
      increment(entropy);
    }
    return `${prefix}_${encodeTime(lastTime)}${encodeRandom(entropy)}`;
  };
}

function increment(bytes: Buffer): void {
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = ((bytes[i] ?? 0) + 1) & 0xff;
    if (bytes[i] !== 0) return;
  }
}
