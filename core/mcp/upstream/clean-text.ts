/**
 * Characters that people do not see and models read: controls other than line breaks and tabs, marks that turn the direction of
 * text, zero-width characters, the invisible letters of tags, and variation selectors, by which whole texts can be hidden.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Makes a third party's text safe to show to models and people (threat P6): without hidden characters, and cut.
 *
 * @param maxLength in UTF-16 code units
 */
export function cleanText(text: string, maxLength: number): string {
  const clean = text.toWellFormed().replace(HIDDEN, '').trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1).toWellFormed()}…` : clean;
}

/** True for a name or a value that has invisible characters. */
export function hasHiddenText(text: string): boolean {
  return text.search(HIDDEN) >= 0 || !text.isWellFormed();
}
