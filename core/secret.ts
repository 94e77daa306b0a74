import { inspect } from 'node:util';

/** The text that replaces a secret when it is printed, logged or serialized. */
export const MASK = '[secret]';

/**
 * A secret text that cannot be printed by accident: template literals, JSON, `console` and loggers show the mask. Only
 * `reveal()` returns the value, so a search for it finds every place that handles plaintext.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
