/** Records which bytes of a text belong to secrets. */
export class Marks {
  readonly #size: number;
  #marked: Uint8Array | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  add(start: number, end: number): void {
    this.#marked ??= new Uint8Array(this.#size);
    this.#marked.fill(1, start, end);
  }

  /** Returns the ranges, sorted and merged: `[start, end, start, end, …]`. */
  ranges(): number[] {
    const marked = this.#marked;
    if (!marked) return [];
    const ranges: number[] = [];
    for (let start = marked.indexOf(1); start !== -1; ) {
      const next = marked.indexOf(0, start);
      const end = next === -1 ? marked.length : next;
      ranges.push(start, end);
      start = next === -1 ? -1 : marked.indexOf(1, end);
    }
    return ranges;
  }
}
