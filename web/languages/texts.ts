import { breakable } from '../breakable.ts';
import { Html, html } from '../html.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { hi } from './hi.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { ko } from './ko.ts';
import type { MessageKey, Messages, Placeholder, Plural } from './messages.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { ptBR } from './pt-BR.ts';
import { tr } from './tr.ts';
import { zhHans } from './zh-Hans.ts';

/** Every language of the pages, by its tag (RFC 5646). */
export const LANGUAGES = {
  en,
  de,
  fr,
  es,
  'pt-BR': ptBR,
  it,
  nl,
  pl,
  tr,
  ja,
  ko,
  'zh-Hans': zhHans,
  ar,
  hi,
} as const satisfies Record<string, Messages>;

export type LanguageTag = keyof typeof LANGUAGES;

const RIGHT_TO_LEFT: readonly LanguageTag[] = ['ar'];

type Value = string | number | Html;
type Values<K extends MessageKey> = [Placeholder<K>] extends [never]
  ? [values?: Record<string, never>]
  : [values: Record<Placeholder<K>, Value>];

/** The texts of one language, with their placeholders filled. */
export interface Texts {
  readonly tag: LanguageTag;
  readonly direction: 'ltr' | 'rtl';
  /**
   * As HTML. Values that are strings are escaped. They are also isolated with `<bdi>`, because their direction may
   * differ from that of the sentence.
   */
  html<K extends MessageKey>(key: K, ...values: Values<K>): Html;
  /** As plain text, for titles and attributes. */
  plain<K extends MessageKey>(key: K, ...values: Values<K>): string;
  /** Names as a list, such as "A, B and C". */
  list(names: readonly string[]): string;
  /** A moment as date and time in UTC. @param at milliseconds UTC */
  dateTime(at: number): string;
  number(value: number): string;
}

const known = new Map<LanguageTag, Texts>();

export function textsOf(tag: LanguageTag): Texts {
  const texts = known.get(tag) ?? createTexts(tag);
  known.set(tag, texts);
  return texts;
}

function createTexts(tag: LanguageTag): Texts {
  const messages: Messages = LANGUAGES[tag];
  const plurals = new Intl.PluralRules(tag);
  const numbers = new Intl.NumberFormat(tag);
  const dates = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  const lists = new Intl.ListFormat(tag, { type: 'conjunction' });
  const direction = RIGHT_TO_LEFT.includes(tag) ? 'rtl' : 'ltr';

  const templateOf = (key: MessageKey, values: Record<string, Value>): string => {
    const message: string | Plural = messages[key];
    if (typeof message === 'string') return message;
    return message[plurals.select(Number(values['count']))] ?? message.other;
  };
  /** Splits a template into text and placeholders; every second part is the name of a placeholder. */
  const partsOf = (key: MessageKey, values: Record<string, Value>) => templateOf(key, values).split(/\{(\w+)\}/);
  const shown = (value: Value | undefined) => (typeof value === 'number' ? numbers.format(value) : String(value ?? ''));

  return {
    tag,
    direction,
    html(key, ...[values]) {
      const given: Record<string, Value> = values ?? {};
      const parts = partsOf(key, given).map((part, index) => {
        const value = index % 2 === 0 ? part : given[part];
        if (value instanceof Html) return value;
        return index % 2 === 0 || typeof value === 'number'
          ? html`${shown(value)}`
          : html`<bdi>${breakable(shown(value))}</bdi>`;
      });
      return html`${parts}`;
    },
    plain(key, ...[values]) {
      const given: Record<string, Value> = values ?? {};
      const isolate = (text: string) => (direction === 'rtl' || RTL_LETTER.test(text) ? `\u2068${text}\u2069` : text);
      return partsOf(key, given)
        .map((part, index) => (index % 2 === 0 ? part : isolate(shown(given[part]))))
        .join('');
    },
    list: (names) => lists.format(names),
    dateTime: (at) => dates.format(at),
    number: (value) => numbers.format(value),
  };
}

const RTL_LETTER = /\p{Script=Arabic}|\p{Script=Hebrew}/u;
