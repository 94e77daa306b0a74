import { createHash } from 'node:crypto';

/** Secret values that occur nowhere by chance, so that every trace of one is a leak. */
export class Canaries {
  readonly #places = new Map<string, { place: string; forms: Buffer[] }>();

  /** A secret for a place; the same place has the same one. Letters and digits only: no encoding of text changes it. */
  plant(place: string): string {
    const value = `CANARY${createHash('sha256').update(place).digest('hex').slice(0, 24)}`;
    this.watch(place, value);
    return value;
  }

  /** A secret that the service made itself. */
  watch(place: string, value: string): void {
    if (!this.#places.has(value)) this.#places.set(value, { place, forms: formsOf(value) });
  }

  /** The places whose secrets are in a text or in bytes: as they are, in hexadecimal, or inside base64 at any alignment. */
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
    // The first and the last characters depend on the text next to the value.
    return text.slice(offset === 0 ? 0 : 4, text.length - 4);
  });
  const urlSafe = inside.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...new Set([value, hex, hex.toUpperCase(), ...inside, ...urlSafe])].map((form) => Buffer.from(form));
}
