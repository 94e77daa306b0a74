import { type Decoded, decode, withoutZeros } from './decode.ts';
import { joinLines, joinPairs } from './join.ts';
import { Marks } from './marks.ts';
import {
  ENCODED_BYTES,
  encodedNeedles,
  type Needle,
  plainNeedles,
  shortestEncoded,
  textsOf,
  wantedBytes,
} from './needles.ts';
import { decodeQuotedPrintable } from './quoted-printable.ts';
import { Search } from './search.ts';
import { Arena, startOf, type View, viewOf } from './view.ts';

/** The maximum number of encoding levels that are decoded. JSON in JSON in JSON has three. */
const MAX_LEVELS = 8;

/** The positions of secrets in some bytes. */
export interface Found {
  /** Sorted, without overlaps: `[start, end, start, end, …]`. */
  ranges: number[];
  /**
   * The index of the first bytes that may become a secret when more bytes follow; the length of the input if there are
   * none.
   */
  open: number;
}

/**
 * Finds secrets in bytes, in every form that `needles.ts` knows, behind every escape that `decode` and
 * `decodeQuotedPrintable` decode.
 *
 * A secret has one or a few plain forms and dozens of encoded forms. The encoded forms are only computed when complete
 * bytes could contain one, or when more bytes may follow. Most responses are complete and do not have a sequence of
 * letters and digits that is as long as the shortest encoded form of a token.
 */
export class SecretFinder {
  readonly #texts: readonly string[];
  readonly #plainNeedles: readonly Needle[];
  readonly #plain: Search;
  readonly #shortestEncoded: number;
  #encodedSearch: Search | undefined;
  #wanted: Uint8Array | undefined;
  readonly #arena = new Arena();
  /** A lower bound of the length of every form, in bytes. */
  readonly shortest: number;

  /** @param secrets plaintexts, none of them empty */
  constructor(secrets: readonly string[]) {
    this.#texts = textsOf(secrets);
    this.#plainNeedles = plainNeedles(this.#texts);
    this.#plain = new Search(this.#plainNeedles);
    this.#shortestEncoded = shortestEncoded(this.#texts);
    this.shortest = Math.min(this.#plain.shortest, this.#shortestEncoded);
  }

  /** The length of the longest form, in bytes. */
  get longest(): number {
    return Math.max(this.#plain.longest, this.#encoded.longest);
  }

  /** @param final whether the source is complete; false if more bytes may follow */
  find(source: Uint8Array, final: boolean): Found {
    const marks = new Marks(source.length);
    let open = source.length;
    const look = (view: View, search: Search) => {
      /** The end of the last occurrence of each needle. Occurrences may overlap; their common bytes are marked once. */
      const markedTo = new Map<Needle, number>();
      search.scan(view, (needle, start, end) => {
        marks.add(startOf(view, Math.max(start, markedTo.get(needle) ?? 0)), startOf(view, end));
        markedTo.set(needle, end);
      });
      if (!final) open = Math.min(open, startOf(view, search.openEnd(view)));
    };
    const lookForEncoded = (view: View) => {
      if (!final || hasRun(view, this.#shortestEncoded)) look(view, this.#encoded);
    };
    const isWanted = (code: number) => {
      this.#wanted ??= wantedBytes(this.#plainNeedles);
      return this.#wanted[Math.min(code, 0x80)] === 1;
    };
    const options = (name: string) => ({ name, arena: this.#arena, isWanted, final });
    const step = (decoded: Decoded | undefined): View | undefined => {
      if (!decoded) return undefined;
      open = Math.min(open, decoded.undecided);
      // A view that ends before an incomplete escape is searched too: the bytes before the escape may begin a secret.
      return decoded.changed || decoded.undecided < source.length ? decoded.view : undefined;
    };
    const lookThrough = (view: View, name: string) => {
      look(view, this.#plain);
      lookForEncoded(view);
      const joined = [
        joinLines(view, `${name} lines`, this.#arena, final),
        joinPairs(view, `${name} pairs`, this.#arena, final),
      ];
      // Joined views are only searched for encoded forms: joined words could look like a plain secret by accident.
      for (const other of joined) if (other) lookForEncoded(other);
    };

    let view: View | undefined = viewOf(source);
    for (let level = 0; view && level <= MAX_LEVELS; level++) {
      lookThrough(view, 'plain');
      const printable = step(decodeQuotedPrintable(view, options('printable')));
      if (printable) {
        lookThrough(printable, 'printable');
        const inner = step(decode(printable, options('inner')));
        if (inner) lookThrough(inner, 'inner');
      }
      // Two memory areas alternate: one is read while the other is written.
      const next = options(level % 2 === 0 ? 'even' : 'odd');
      view = withoutZeros(view, next) ?? step(decode(view, next));
    }
    return { ranges: marks.ranges(), open };
  }

  get #encoded(): Search {
    this.#encodedSearch ??= new Search(encodedNeedles(this.#texts));
    return this.#encodedSearch;
  }
}

/**
 * Whether the bytes contain a sequence of this length of characters that encoded forms consist of. Skips most bytes
 * outside of such sequences.
 */
function hasRun({ bytes, length }: View, wanted: number): boolean {
  let start = 0;
  while (start + wanted <= length) {
    let at = start + wanted - 1;
    while (at >= start && ENCODED_BYTES[bytes[at] as number] === 1) at--;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}
