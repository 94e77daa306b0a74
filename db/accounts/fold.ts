const ASCII = /^[\0-\x7f]*$/;

/**
 * Converts identifiers and queries to the form that search compares. Each code point is converted to lower, upper and
 * lower case separately, so that `ß`, `ẞ` and `SS` match, `Σ`, `σ` and `ς` match, and no letter depends on its
 * neighbours. Accents are kept: `É` finds `é`, but `e` does not. Code points that UTF-8 cannot represent become U+FFFD,
 * as in the database, and so do U+FFFE and U+FFFF, as in the tokenizer of the search index.
 *
 * The number of code points never decreases, so a query of three code points still has at least three, the minimum for
 * the substring index.
 */
export function foldForSearch(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text.toWellFormed()) folded += character.toLowerCase().toUpperCase().toLowerCase();
  return folded.replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
}

/**
 * Converts a query in the same way as the stored identifiers. Returns undefined for a query with a line break or a NUL:
 * no identifier matches it, because identifiers do not contain these characters.
 */
export function foldQuery(query: string): string | undefined {
  const folded = foldForSearch(query);
  return folded.includes('\n') || folded.includes('\0') ? undefined : folded;
}
