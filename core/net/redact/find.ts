import { type Decoded, decode, decodeQuotedPrintable, withoutZeros } from './decode.ts';
import { joinLines, joinPairs } from './join.ts';
import { Marks } from './marks.ts';
import { bytesOf, type Needle, needlesOf } from './needles.ts';
import { Search } from './search.ts';
import { Arena, startOf, type View, viewOf } from './view.ts';

/** Levels of encoding that are undone: JSON in JSON in JSON has three. */
const MAX_LEVELS = 8;

/** The positions of secrets in some bytes. */
export interface Found {
  /** Sorted, without overlaps: `[start, end, start, end, …]`. */
  ranges: number[];
  /** Where something begins that may become a secret when more bytes follow; the length where nothing does. */
  open: number;
}

/** Finds some secrets in bytes, in every form that `needlesOf` knows, behind every escape that `decode` undoes. */
export class SecretFinder {
  readonly #all: Search;
  readonly #needles: readonly Needle[];
  #encoded: Search | undefined;
  #wanted: Uint8Array | undefined;
  readonly #arena = new Arena();
  /** The longest and the shortest form of a secret, in bytes. */
  readonly longest: number;
  readonly shortest: number;

  /** @param secrets plaintexts, none of them empty */
  constructor(secrets: readonly string[]) {
    const needles = needlesOf(secrets);
    this.#needles = needles;
    this.#all = new Search(needles);
    const lengths = needles.map(({ bytes }) => bytes.length);
    this.longest = Math.max(0, ...lengths);
    this.shortest = Math.min(...lengths);
  }

  /** @param final false when more bytes may follow */
  find(source: Uint8Array, final: boolean): Found {
    const marks = new Marks(source.length);
    let open = source.length;
    const look = (view: View, search: Search) => {
      /** Occurrences may overlap: what is marked already is not marked again. */
      const markedTo = new Map<Needle, number>();
      search.scan(view, (needle, start, end) => {
        marks.add(startOf(view, Math.max(start, markedTo.get(needle) ?? 0)), startOf(view, end));
        markedTo.set(needle, end);
      });
      if (!final) open = Math.min(open, startOf(view, search.openEnd(view)));
    };
    const isWanted = (code: number) => {
      this.#wanted ??= bytesOf(this.#needles);
      return this.#wanted[Math.min(code, 0x80)] === 1;
    };
    const options = (name: string) => ({ name, arena: this.#arena, isWanted, final });
    const step = (decoded: Decoded | undefined): View | undefined => {
      if (!decoded) return undefined;
      open = Math.min(open, decoded.undecided);
      // Without the escape that is not complete, what is in front of it may be the beginning of a secret.
      return decoded.changed || decoded.undecided < source.length ? decoded.view : undefined;
    };
    const lookThrough = (view: View, name: string) => {
      look(view, this.#all);
      const joined = [
        joinLines(view, `${name} lines`, this.#arena, final),
        joinPairs(view, `${name} pairs`, this.#arena, final),
      ];
      for (const other of joined) if (other) look(other, this.#ofEncoded());
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
      // Two pieces of memory take turns: one is read while the other is written.
      const next = options(level % 2 === 0 ? 'even' : 'odd');
      view = withoutZeros(view, next) ?? step(decode(view, next));
    }
    return { ranges: marks.ranges(), open };
  }

  /** Only encoded forms are broken into lines and pairs; others would be found across the borders of words. */
  #ofEncoded(): Search {
    this.#encoded ??= new Search(this.#needles.filter(({ isEncoded }) => isEncoded));
    return this.#encoded;
  }
}
