const ASCII = /^[\0-\x7f]*$/;

/**
 * The form in which identifiers and queries are compared by search: each code point is put through lower, upper and lower case on
 * its own, so `ß`, `ẞ` and `SS` meet, `Σ`, `σ` and `ς` meet, and no letter depends on its neighbours. Accents and composition are
 * left as they are: `é` is found by `É`, and not by `e`. What UTF-8 cannot carry becomes U+FFFD, as it does in the database,
 * and so do U+FFFE and U+FFFF, as they do in its tokenizer.
 *
 * A text never gets shorter in code points, so a query of three stays one of at least three.
 */
export function foldForSearch(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text.toWellFormed()) folded += character.toLowerCase().toUpperCase().toLowerCase();
  return folded.replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
}

/** A query, folded like the texts; undefined where nothing can match, because no text has such characters: the table checks it. */
export function foldQuery(query: string): string | undefined {
  const folded = foldForSearch(query);
  return folded.includes('\n') || folded.includes('\0') ? undefined : folded;
}
