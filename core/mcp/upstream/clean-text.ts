/**
 * Characters that users do not see but models read: control characters other than line breaks and tabs, characters that
 * change the direction of text, zero-width characters, invisible tag letters, and variation selectors, in which whole
 * texts can be hidden.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Removes hidden characters and outer white space from a third party's text and shortens it, so that it can be shown to
 * models and users (threat P6).
 *
 * @param maxLength in UTF-16 code units
 */
export function cleanText(text: string, maxLength: number): string {
  const clean = text.toWellFormed().replace(HIDDEN, '').trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1).toWellFormed()}…` : clean;
}

/** Whether a name or a value contains hidden characters or invalid Unicode (lone surrogates). */
export function hasHiddenText(text: string): boolean {
  return text.search(HIDDEN) >= 0 || !text.isWellFormed();
}
