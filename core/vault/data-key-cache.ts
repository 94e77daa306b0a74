import type { DataKeyContext } from './context.ts';
import { DATA_KEY_BYTES, type DataKey, readDataKey } from './data-key.ts';

/** Wrapped keys are never longer; a longer one would not be cached. */
const MAX_WRAPPED_BYTES = 127;
const LENGTH_AT = DATA_KEY_BYTES;
const WRAPPED_AT = LENGTH_AT + 1;
const SLOT_BYTES = WRAPPED_AT + MAX_WRAPPED_BYTES;

/**
 * Caches unwrapped data keys, so that decrypting a credential takes one decryption instead of two. A key is only
 * returned for the same row and the same wrapped bytes, so a replaced or rewrapped key is never found. The caller
 * checks that the key-encryption key is still in the ring.
 *
 * The keys are in one block of memory outside the garbage-collected heap. Key objects would take five times the space.
 */
export class DataKeyCache {
  readonly #max: number;
  readonly #slots: Buffer;
  /** The slot of each row in the memory block, and the row of each slot. */
  readonly #slotOf = new Map<string, number>();
  readonly #names: string[] = [];
  #next = 0;

  /** @param max the maximum number of keys, about 400 bytes each; the key that was added first is evicted first */
  constructor(max: number) {
    this.#max = max;
    this.#slots = Buffer.alloc(max * SLOT_BYTES);
  }

  get(context: DataKeyContext, wrapped: Buffer): DataKey | undefined {
    const slot = this.#slotOf.get(nameOf(context));
    if (slot === undefined) return undefined;
    const at = slot * SLOT_BYTES;
    const from = at + WRAPPED_AT;
    const isSame =
      this.#slots[at + LENGTH_AT] === wrapped.length &&
      this.#slots.compare(wrapped, 0, wrapped.length, from, from + wrapped.length) === 0;
    return isSame ? readDataKey(this.#slots.subarray(at, at + DATA_KEY_BYTES)) : undefined;
  }

  /** @param bytes the decrypted content of `wrapped`; it is copied */
  set(context: DataKeyContext, wrapped: Buffer, bytes: Buffer): void {
    if (wrapped.length > MAX_WRAPPED_BYTES || bytes.length !== DATA_KEY_BYTES) return;
    const name = nameOf(context);
    const at = (this.#slotOf.get(name) ?? this.#take(name)) * SLOT_BYTES;
    bytes.copy(this.#slots, at);
    this.#slots[at + LENGTH_AT] = wrapped.length;
    wrapped.copy(this.#slots, at + WRAPPED_AT);
  }

  #take(name: string): number {
    const slot = this.#next;
    this.#next = (slot + 1) % this.#max;
    const earlier = this.#names[slot];
    if (earlier !== undefined) this.#slotOf.delete(earlier);
    this.#names[slot] = name;
    this.#slotOf.set(name, slot);
    return slot;
  }
}

/** Returns a text that identifies the row of a data key unambiguously. */
function nameOf({ table, environmentId, recordId, generation }: DataKeyContext): string {
  return JSON.stringify([table, environmentId, recordId, generation]);
}
