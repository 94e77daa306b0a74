import { generateKeyPairSync } from 'node:crypto';

type RsaPair = ReturnType<typeof generate>;

const generate = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const pairs = new Map<string, RsaPair>();

/**
 * An RSA key pair of 2048 bits. Each name has one key pair in this process. Creating one takes a tenth of a second, so
 * tests that need no separate key share one.
 */
export function rsaPair(name = 'shared'): RsaPair {
  const pair = pairs.get(name) ?? generate();
  pairs.set(name, pair);
  return pair;
}
