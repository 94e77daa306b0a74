import { createSecretKey, type KeyObject } from 'node:crypto';
import { Secret } from '../secret.ts';
import type { RandomSource } from './aead.ts';
import { deriveBytes, deriveKey } from './derive-key.ts';
import { VaultError } from './errors.ts';

const KEY_BYTES = 32;
const KEY_LINE = /^(kek_[A-Za-z0-9_-]{8,32}):(\S+)$/;

/**
 * A key-encryption key: the keys derived from its 32 bytes, one for each use. They are in memory outside the JavaScript
 * heap.
 */
export interface KeyEncryptionKey {
  readonly id: string;
  /** Wraps data keys. */
  readonly wrapping: KeyObject;
  /** Encrypts single values. */
  readonly sealing: KeyObject;
  /** 32 bytes that identify this key and reveal nothing about it, so they can be stored with the data. */
  readonly check: Buffer;
}

/** The key-encryption keys of a deployment. The active one encrypts; all of them decrypt. */
export class KeyRing {
  readonly active: KeyEncryptionKey;
  readonly #keys: ReadonlyMap<string, KeyEncryptionKey>;

  /** @param keys at least one, the active one first */
  constructor(keys: readonly [KeyEncryptionKey, ...KeyEncryptionKey[]]) {
    this.active = keys[0];
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  get(id: string): KeyEncryptionKey | undefined {
    return this.#keys.get(id);
  }

  /** The ids in the order of the ring, the active one first. */
  get ids(): string[] {
    return [...this.#keys.keys()];
  }

  keys(): KeyEncryptionKey[] {
    return [...this.#keys.values()];
  }
}

/**
 * Parses a key ring: one `kek_<8 to 32 characters>:<base64 of 32 bytes>` per line, the active key first. Empty lines
 * and lines that start with `#` are skipped.
 *
 * @param source the name of the text in error messages: a path, or the name of a variable
 * @throws VaultError `NO_KEY` if there are no keys, `KEY_FORMAT` with the number of the line, never with key material
 */
export function parseKeyRing(text: string, source: string): KeyRing {
  const keys: KeyEncryptionKey[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const refuse = (reason: string): never => {
      throw new VaultError('KEY_FORMAT', `${source}, line ${index + 1}: ${reason}`);
    };
    const [, id, encoded] = KEY_LINE.exec(line) ?? refuse('expected kek_<8 to 32 letters, digits, _ or ->:<base64>');
    const key = fromBytes(id ?? '', decodeKey(encoded ?? '', refuse));
    if (keys.some((other) => other.id === key.id)) refuse(`duplicate key id ${key.id}`);
    if (keys.some((other) => other.check.equals(key.check))) refuse('an earlier line has the same key with another id');
    keys.push(key);
  }
  const [active, ...others] = keys;
  if (active === undefined)
    throw new VaultError('NO_KEY', `${source} has no key: it must have a line kek_<id>:<base64>`);
  return new KeyRing([active, ...others]);
}

/** Creates a key, with its line for a key file. */
export function generateKey(random: RandomSource): { key: KeyEncryptionKey; line: Secret } {
  const id = `kek_${random(8).toString('hex')}`;
  const bytes = random(KEY_BYTES);
  const line = new Secret(`${id}:${bytes.toString('base64')}`);
  return { key: fromBytes(id, bytes), line };
}

function decodeKey(encoded: string, refuse: (reason: string) => never): Buffer {
  const bytes = Buffer.from(encoded, 'base64');
  // Node's decoder skips invalid characters, so the result is compared with the text.
  if (bytes.toString('base64') !== encoded) return refuse('the key is not base64 with padding');
  if (bytes.length !== KEY_BYTES) return refuse(`the key has ${bytes.length} bytes, not ${KEY_BYTES}`);
  if (bytes.every((byte) => byte === 0)) return refuse('the key is all zero');
  return bytes;
}

/** Derives the keys and wipes the bytes. */
function fromBytes(id: string, bytes: Buffer): KeyEncryptionKey {
  const root = createSecretKey(bytes);
  bytes.fill(0);
  return {
    id,
    wrapping: deriveKey(root, 'kek wrapping'),
    sealing: deriveKey(root, 'kek sealing'),
    check: deriveBytes(root, 'kek check'),
  };
}
