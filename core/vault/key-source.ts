import { RELOAD } from '../budgets.ts';
import { VaultError } from './errors.ts';
import { keyFileIdentity, readKeyFile } from './key-file.ts';
import { type KeyEncryptionKey, type KeyRing, parseKeyRing } from './key-ring.ts';

/** The source of the vault's keys, read for each use. */
export interface KeySource {
  /** The ring as it is known now. */
  current(): KeyRing;
  /** The key of this id; one that is not known is looked for once more at the source. */
  find(id: string): KeyEncryptionKey | undefined;
}

/** A ring that never changes: keys given in a variable, or a test's. */
export function fixedKeys(ring: KeyRing): KeySource {
  return { current: () => ring, find: (id) => ring.get(id) };
}

export type KeyReload = { outcome: 'reloaded'; ring: KeyRing } | { outcome: 'refused'; error: unknown };

/**
 * The ring of a key file, reloaded while serving: a rotation by another process is noticed within `RELOAD.keyFileMs`, or
 * immediately if a record names an unknown key. An invalid file is ignored: the last valid ring stays in use.
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
   * @param report is told of each later change of the file, once
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
    // A clock that was set back must not keep us from looking.
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

/** An id that suddenly stands for another key is an accident: sealing under it would lose data. */
function refuseExchangedKeys(before: KeyRing, after: KeyRing): void {
  for (const key of after.keys()) {
    const known = before.get(key.id);
    if (known !== undefined && !known.check.equals(key.check)) {
      throw new VaultError(
        'KEY_CHECK_FAILED',
        `The key ${key.id} was replaced by another key with the same id while the server was running`,
      );
    }
  }
}
