const MAX_CHANGES = 20;
const MAX_TEXT = 200;

/**
 * Collects what was removed from a server's schema or changed in it, for the report of a sync. Beyond a maximum,
 * changes are only counted.
 */
export class Changes {
  readonly #changes: string[] = [];
  #more = 0;

  /**
   * @param path the member names that lead to the change, beginning with the name of the schema
   * @param what completes a sentence that begins with the path, for example "was omitted"
   */
  add(path: readonly string[], what: string): void {
    if (this.#changes.length < MAX_CHANGES)
      this.#changes.push(`${path.join('.').slice(0, MAX_TEXT).toWellFormed()} ${what}`);
    else this.#more++;
  }

  get list(): string[] {
    return this.#more === 0 ? this.#changes : [...this.#changes, `and ${this.#more} more`];
  }
}
