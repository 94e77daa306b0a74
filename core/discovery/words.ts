import { LRUCache } from 'lru-cache';

/** Splits texts into the words that tools are searched by. */

/** Words that are ignored in queries. */
const STOP_WORDS = new Set(
  (
    'a an the and or of to in on at by for from with into about as is are was be been am do does did done can could would should will ' +
    'i me my mine we us our you your it its this that these those there they them their he she his her him who whom which what ' +
    'when where how why please want need like let lets some any all every each just also so then than up out if not no ' +
    'someone somebody anyone anybody everyone everybody something anything everything'
  ).split(' '),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: text without accents or other letters to replace
const ASCII = /^[\x00-\x7f]*$/;
const CAMEL = /(\p{Ll}|\d)(\p{Lu})/gu;
const WORD = /[\p{L}\p{N}]+/gu;
const VOWEL = /[aeiouy]/;

/** A cache of stems: texts contain many words, but few different ones. */
const stems = new LRUCache<string, string>({ max: 5_000 });

/** Returns the words of a text in order, stemmed. Identifiers such as `listIssues` are split too. */
export function wordsOf(text: string): string[] {
  return wordsIn(text).map((word) => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const made = stem(word);
    stems.set(word, made);
    return made;
  });
}

/** Returns the words of a text in order, in lower case and without accents. */
export function wordsIn(text: string): string[] {
  const latin = ASCII.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '');
  const plain = latin
    .replace(CAMEL, '$1 $2')
    .toLowerCase()
    .replaceAll(/['’]s\b/g, '')
    // `to-do` and `e-mail` are kept together: both parts of `to-do` are stop words.
    .replaceAll(/\b(?:to-do|e-mail)/g, (word) => word.replace('-', ''));
  return plain.match(WORD) ?? [];
}

/** Whether a word is an English plural: `people`, or a word with a plural ending that `stem` removes. */
export function isPlural(word: string): boolean {
  return word === 'people' || (word.length > 3 && (/[^sui]s$/.test(word) || /(?:ss|sh|ch|x|z)es$/.test(word)));
}

/** Returns the distinct stemmed words of a query, without stop words unless all words are stop words. */
export function wordsOfQuery(text: string): string[] {
  const all = [...new Set(wordsOf(text))];
  const telling = all.filter((word) => !STOPS.has(word));
  return telling.length > 0 ? telling : all;
}

/**
 * Removes the usual English endings of a word, so that `issues` and `issue`, or `creating`, `created` and `create`,
 * become equal. The result need not be a word.
 */
export function stem(word: string): string {
  let stemmed = word;
  if (stemmed.length > 4 && stemmed.endsWith('ies')) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x|z)es$/.test(stemmed)) stemmed = stemmed.slice(0, -2);
  else if (stemmed.length > 3 && /[^sui]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  for (const ending of ['ing', 'ed']) {
    const rest = stemmed.slice(0, -ending.length);
    if (stemmed.endsWith(ending) && rest.length > 2 && VOWEL.test(rest)) {
      stemmed = rest.replace(/([^lsz])\1$/, '$1');
      break;
    }
  }
  return stemmed.length > 3 && stemmed.endsWith('e') ? stemmed.slice(0, -1) : stemmed;
}

/**
 * The minimum length of words that are compared for misspellings, because shorter words have too many similar words.
 */
const MISSPELLED_FROM = 5;

/**
 * Whether two words differ by one letter that is wrong, missing or added, or by two adjacent letters in the wrong
 * order. The first letter must be equal, because it is seldom wrong.
 */
export function isMisspelling(word: string, other: string): boolean {
  const longer = word.length < other.length ? other : word;
  const shorter = longer === word ? other : word;
  if (shorter.length < MISSPELLED_FROM || longer.length - shorter.length > 1 || word[0] !== other[0]) return false;
  let at = 0;
  while (at < shorter.length && shorter[at] === longer[at]) at++;
  if (longer.length > shorter.length) return longer.slice(at + 1) === shorter.slice(at);
  if (longer.slice(at + 1) === shorter.slice(at + 1)) return true;
  const isSwapped = longer[at] === shorter[at + 1] && longer[at + 1] === shorter[at];
  return isSwapped && longer.slice(at + 2) === shorter.slice(at + 2);
}

const STOPS = new Set([...STOP_WORDS].map(stem));
