import { inspect } from 'node:util';

/** What a secret looks like wherever it is printed, logged or serialised. */
export const MASK = '[secret]';

/**
 * A secret string that cannot be printed by accident: template literals, JSON, `console` and loggers all show the mask.
 * `reveal()` is the one way to the value, so a search for it lists every place that handles plaintext.
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
