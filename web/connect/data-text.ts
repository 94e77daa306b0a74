import { breakable } from '../breakable.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { Texts } from '../languages/texts.ts';

/** The language of a page, and the language that the texts of a provider's definition are written in. */
export interface DataLanguage {
  texts: Texts;
  /** Empty if it is unknown, for example for a definition that a client wrote. */
  dataLanguage: string;
}

/** Text of a provider's definition, which may be in another language than the page. */
export function dataHtml(text: string, language: DataLanguage): Html {
  return html`<bdi${languageHtml(language)}>${breakable(text)}</bdi>`;
}

/**
 * Returns the `lang` and `dir` attributes for a text of a built-in definition, which is in English, on a page in
 * another language. Returns no attributes if the languages are the same, or the language of the text is unknown.
 */
export function languageHtml({ texts, dataLanguage }: DataLanguage): Html {
  if (dataLanguage === '' || texts.tag.startsWith(dataLanguage)) return html``;
  return html` lang="${dataLanguage}" dir="ltr"`;
}
