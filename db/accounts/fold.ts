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

/** Stands between the fields of the indexed text and occurs in none of them: the table checks it. */
const SEPARATOR = '\n';

/** The text that an account is found by. */
export function searchText(account: { identifier: string; provider: string; connector: string }): string {
  return [account.identifier, account.provider, account.connector].map(foldForSearch).join(SEPARATOR);
}

/**
 * A query of the trigram index that matches the text literally, as one phrase; nothing in it is an operator.
 *
 * @returns undefined where nothing can match, because the text would reach over the end of a field
 */
export function matchPhrase(query: string): string | undefined {
  const folded = foldForSearch(query);
  if (folded.includes(SEPARATOR) || folded.includes('\0')) return undefined;
  return `"${folded.replaceAll('"', '""')}"`;
}
