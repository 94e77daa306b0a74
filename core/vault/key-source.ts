import { RELOAD } from '../budgets.ts';
import { VaultError } from './errors.ts';
import { keyFileIdentity, readKeyFile } from './key-file.ts';
import { type KeyEncryptionKey, type KeyRing, parseKeyRing } from './key-ring.ts';

/**
 * The source of the vault's keys. The vault gets the key from it for each operation, because the ring may have changed.
 */
export interface KeySource {
  /** Returns the current ring. */
  current(): KeyRing;
  /** Returns the key with this id; for an unknown id the source is read again. */
  find(id: string): KeyEncryptionKey | undefined;
}

/** Returns a source whose ring never changes: keys from a variable, or of a test. */
export function fixedKeys(ring: KeyRing): KeySource {
  return { current: () => ring, find: (id) => ring.get(id) };
}

export type KeyReload = { outcome: 'reloaded'; ring: KeyRing } | { outcome: 'refused'; error: unknown };

/**
 * The ring of a key file, which is reloaded while the server runs: a rotation by another process is noticed within
 * `RELOAD.keyFileMs`, or immediately if a record names an unknown key. An invalid file is ignored: the last valid ring
 * stays in use.
 */
export class KeyFileSource implements KeySource {
  readonly #path: string;
  readonly #now: () => number;
  readonly #report: (reload: KeyReload) => void;
  #ring: KeyRing;
  #identity: string | undefined;
  #lookedAt: number;

  /**
   * @param path of the key file
   * @param now milliseconds UTC
   * @param report is called once for each later change of the file
   * @throws VaultError as `readKeyFile` and `parseKeyRing`
   */
  constructor(path: string, now: () => number, report: (reload: KeyReload) => void = () => {}) {
    this.#path = path;
    this.#now = now;
    this.#report = report;
    this.#lookedAt = now();
    const { text, identity } = readKeyFile(path);
    this.#ring = parseKeyRing(text, path);
    this.#identity = identity;
  }

  current(): KeyRing {
    const elapsed = this.#now() - this.#lookedAt;
    // A negative time means that the clock went back; the file is then read again.
    if (elapsed >= RELOAD.keyFileMs || elapsed < 0) this.#look();
    return this.#ring;
  }

  find(id: string): KeyEncryptionKey | undefined {
    const known = this.current().get(id);
    if (known !== undefined) return known;
    this.#look();
    return this.#ring.get(id);
  }

  #look(): void {
    this.#lookedAt = this.#now();
    const seen = keyFileIdentity(this.#path);
    if (seen === this.#identity) return;
    this.#identity = seen;
    try {
      const { text, identity } = readKeyFile(this.#path);
      this.#identity = identity;
      const ring = parseKeyRing(text, this.#path);
      refuseExchangedKeys(this.#ring, ring);
      this.#ring = ring;
      this.#report({ outcome: 'reloaded', ring });
    } catch (error) {
      this.#report({ outcome: 'refused', error });
    }
  }
}

/**
 * Rejects a ring in which an id now belongs to another key. This is a mistake: data that was encrypted with the former
 * key of this id could no longer be decrypted.
 */
function refuseExchangedKeys(before: KeyRing, after: KeyRing): void {
  for (const key of after.keys()) {
    const known = before.get(key.id);
    if (known !== undefined && !known.check.equals(key.check)) {
      throw new VaultError(
        'KEY_CHECK_FAILED',
        `The key ${key.id} was replaced by another key with the same id: restore it, and give the new key another id`,
      );
    }
  }
}
