import { LANGUAGES, type LanguageTag } from './texts.ts';

const TAGS = Object.keys(LANGUAGES) as LanguageTag[];

/** The languages for tags that have no file. Traditional Chinese is not simplified. */
const FALLBACKS: ReadonlyMap<string, LanguageTag> = new Map([
  ['pt', 'pt-BR'],
  ['zh', 'zh-Hans'],
]);
const TRADITIONAL = /^zh-(hant|tw|hk|mo)\b/;

/** More entries than any browser sends. */
const MAX_RANGES = 30;

/**
 * Chooses the language of a page: the one that the application asked for, otherwise the best one that the browser
 * accepts (RFC 4647 §3.4, lookup), otherwise English.
 *
 * @param requested a language tag; null or unknown tags are skipped
 * @param acceptLanguage the header of the request
 */
export function chooseLanguage(requested: string | null, acceptLanguage: string | undefined): LanguageTag {
  const wanted = [...(requested ? [requested] : []), ...rangesOf(acceptLanguage ?? '')];
  for (const range of wanted) {
    const found = lookUp(range.toLowerCase());
    if (found) return found;
  }
  return 'en';
}

function lookUp(range: string): LanguageTag | undefined {
  if (TRADITIONAL.test(range)) return undefined;
  const subtags = range.split('-');
  while (subtags.length > 0) {
    const candidate = subtags.join('-');
    const found = TAGS.find((tag) => tag.toLowerCase() === candidate) ?? FALLBACKS.get(candidate);
    if (found) return found;
    subtags.pop();
  }
  return undefined;
}

/** Returns the ranges of an Accept-Language header, the preferred ones first (RFC 9110 §12.5.4). */
function rangesOf(header: string): string[] {
  const ranges = header
    .slice(0, 1000)
    .split(',', MAX_RANGES)
    .flatMap((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter));
      const q = weight === undefined ? 1 : Number(weight.slice(2));
      return /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/i.test(range) && q > 0 ? [{ range, q }] : [];
    });
  return ranges.sort((a, b) => b.q - a.q).map(({ range }) => range);
}
