import type { Cut, Truncation } from './outcome.ts';
import { isRecord } from './pointer.ts';

/**
 * Reduces a JSON value to at most `maxBytes` while keeping its structure: lists lose items at their end, long strings
 * are truncated, and only if that is not enough, objects lose their largest members.
 *
 * @param maxBytes the largest size of the value as JSON, in bytes of UTF-8
 * @param paged whether the results of the tool have pages; the message then suggests a smaller page size
 */
export function shrinkToFit(
  value: unknown,
  maxBytes: number,
  paged: boolean,
): { value: unknown; truncated?: Truncation } {
  const size = sizeOf(value);
  if (size <= maxBytes) return { value };
  const cutter = new Cutter();
  const kept = cutter.cut(value, maxBytes, '');
  return { value: kept, truncated: { statement: statementOf(size, maxBytes, cutter.cuts, paged), cuts: cutter.cuts } };
}

/**
 * Reduces a text to its last lines, or to the end of its last line if this line alone is too long.
 *
 * @param maxBytes the largest size of the text as JSON, in bytes of UTF-8
 */
export function lastLines(text: string, maxBytes: number): { value: string; truncated?: Truncation } {
  // Each character takes at least one byte, so more than the last `maxBytes` characters cannot be kept.
  let rest = text.slice(-maxBytes);
  if (rest.length === text.length && sizeOf(text) <= maxBytes) return { value: text };
  for (let size = sizeOf(rest); size > maxBytes; size = sizeOf(rest)) {
    rest = rest.slice(Math.max(1, Math.ceil((size - maxBytes) / MAX_CHARACTER_BYTES)));
  }
  const line = rest.indexOf('\n') + 1;
  const value = line < rest.length ? rest.slice(line) : rest;
  const cuts: Cut[] = [{ path: '', kept: value.length, of: text.length, unit: 'characters' }];
  const statement = `The response was a text of ${text.length} characters; only the last ${value.length} are returned.`;
  return { value, truncated: { statement, cuts } };
}

/** Returns the size of a value as JSON, in bytes; 0 for undefined. */
export function sizeOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/**
 * A member for which fewer bytes than this are left is removed instead of truncated, because a few characters of it
 * would be misleading.
 */
const MIN_SHARE = 64;

/** A control character becomes an escape of six bytes in JSON. */
const MAX_CHARACTER_BYTES = 6;

class Cutter {
  readonly cuts: Cut[] = [];
  /** Sizes are cached: measuring lists and objects again at every level would multiply the time by the depth. */
  readonly #sizes = new Map<object, number>();

  cut(value: unknown, budget: number, path: string): unknown {
    if (this.#size(value) <= budget) return value;
    if (typeof value === 'string') return this.#text(value, budget, path);
    if (Array.isArray(value)) return this.#list(value, budget, path);
    return isRecord(value) ? this.#object(value, budget, path) : null;
  }

  #size(value: unknown): number {
    if (typeof value !== 'object' || value === null) return sizeOf(value);
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    const members = Array.isArray(value)
      ? value.map((item) => this.#size(item))
      : Object.entries(value).map(([key, member]) => sizeOf(key) + 1 + this.#size(member));
    const size = members.reduce((sum, member) => sum + member + 1, members.length === 0 ? 2 : 1);
    this.#sizes.set(value, size);
    return size;
  }

  #text(text: string, budget: number, path: string): string {
    let end = 0;
    let used = 2;
    for (const character of text) {
      used += sizeOf(character) - 2;
      if (used > budget) break;
      end += character.length;
    }
    this.cuts.push({ path, kept: end, of: text.length, unit: 'characters' });
    return text.slice(0, end);
  }

  #list(list: readonly unknown[], budget: number, path: string): unknown[] {
    const kept: unknown[] = [];
    let used = 2;
    for (const item of list) {
      const size = this.#size(item) + (kept.length > 0 ? 1 : 0);
      if (used + size > budget) break;
      kept.push(item);
      used += size;
    }
    // A part of the first item is more useful than an empty list.
    const first = list[0];
    if (kept.length === 0 && typeof first === 'object' && first !== null && budget > MIN_SHARE) {
      kept.push(this.cut(first, budget - 2, `${path}/0`));
    }
    if (kept.length < list.length) this.cuts.push({ path, kept: kept.length, of: list.length, unit: 'items' });
    return kept;
  }

  #object(object: Readonly<Record<string, unknown>>, budget: number, path: string): unknown {
    const members = Object.entries(object).map(([key, value]) => ({
      key,
      frame: sizeOf(key) + 2,
      size: this.#size(value),
    }));
    const shares = new Map<string, number>();
    let room = budget - 2;
    let left = members.length;
    // Small members are kept as a whole; large ones share the remaining space equally.
    for (const { key, frame, size } of members.toSorted((a, b) => a.frame + a.size - (b.frame + b.size))) {
      const share = Math.min(size, Math.floor(room / left) - frame);
      left--;
      if (share < size && share < MIN_SHARE) continue;
      shares.set(key, share);
      room -= frame + share;
    }
    const kept = Object.entries(object).flatMap(([key, value]) => {
      const share = shares.get(key);
      return share === undefined ? [] : [[key, this.cut(value, share, `${path}/${escaped(key)}`)] as const];
    });
    if (kept.length < members.length) this.cuts.push({ path, kept: kept.length, of: members.length, unit: 'members' });
    return Object.fromEntries(kept);
  }
}

function statementOf(size: number, maxBytes: number, cuts: readonly Cut[], paged: boolean): string {
  const described = cuts
    .slice(0, 5)
    .map(({ path, kept, of, unit }) => `${kept} of ${of} ${unit} of ${path === '' ? 'data' : path}`);
  const more = cuts.length > described.length ? `, and ${cuts.length - described.length} more cuts` : '';
  const advice = paged ? ' The next page does not contain them: request smaller pages.' : '';
  return `The response had ${size} bytes and was cut to ${maxBytes}: kept ${described.join(', ')}${more}.${advice}`;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
