import { acceptedRanges } from './accepted-ranges.ts';
import { LANGUAGES, type LanguageTag } from './texts.ts';

const TAGS = Object.keys(LANGUAGES) as LanguageTag[];

/**
 * The languages that are used for tags without their own texts. Tags of Traditional Chinese do not fall back to
 * Simplified Chinese.
 */
const FALLBACKS: ReadonlyMap<string, LanguageTag> = new Map([
  ['pt', 'pt-BR'],
  ['zh', 'zh-Hans'],
]);
const TRADITIONAL = /^zh-(hant|tw|hk|mo)\b/;

const RANGE = /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/i;

/**
 * Chooses the language of a page: the one that the application asked for, otherwise the best one that the browser
 * accepts (RFC 4647 §3.4, lookup), otherwise English.
 *
 * @param requested a language tag; null or unknown tags are skipped
 * @param acceptLanguage the header of the request
 */
export function chooseLanguage(requested: string | null, acceptLanguage: string | undefined): LanguageTag {
  const wanted = [
    ...(requested ? [requested] : []),
    ...acceptedRanges(acceptLanguage).filter((range) => RANGE.test(range)),
  ];
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
