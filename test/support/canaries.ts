import { createHash } from 'node:crypto';

/** Unique secret values, so that every occurrence is a leak. */
export class Canaries {
  readonly #places = new Map<string, { place: string; forms: Buffer[] }>();

  /**
   * Returns the secret of a place, always the same one. It consists of letters and digits, so that no text encoding
   * changes it.
   */
  plant(place: string): string {
    const value = `CANARY${createHash('sha256').update(place).digest('hex').slice(0, 24)}`;
    this.watch(place, value);
    return value;
  }

  /** Adds a secret that the service itself created. */
  watch(place: string, value: string): void {
    if (!this.#places.has(value)) this.#places.set(value, { place, forms: formsOf(value) });
  }

  /**
   * Returns the places whose secrets are in a text or in bytes: unchanged, in hexadecimal, or inside base64 at any
   * alignment.
   */
  foundIn(haystack: string | Buffer): string[] {
    const bytes = typeof haystack === 'string' ? Buffer.from(haystack) : haystack;
    const found = [...this.#places.values()].filter(({ forms }) => forms.some((form) => bytes.includes(form)));
    return found.map(({ place }) => place);
  }

  get size(): number {
    return this.#places.size;
  }
}

function formsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  const inside = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first and the last characters are removed, because they depend on the bytes around the value.
    return text.slice(offset === 0 ? 0 : 4, text.length - 4);
  });
  const urlSafe = inside.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...new Set([value, hex, hex.toUpperCase(), ...inside, ...urlSafe])].map((form) => Buffer.from(form));
}
