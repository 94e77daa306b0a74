/** Characters that are invisible or change the direction of text. Imports remove them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu;

/**
 * Turns untrusted Markdown or HTML into one line of plain text. A model reads it, so it is short and has no invisible
 * characters.
 *
 * @param limit in UTF-16 code units; longer text is cut at the end of a sentence, or at a word with an ellipsis
 * @returns an empty text if the source is not a string
 */
export function plainText(source: unknown, limit: number): string {
  if (typeof source !== 'string') return '';
  const text = source
    .slice(0, 20_000)
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)/g, '$1')
    .replace(/<[^<>]{1,500}>/g, ' ')
    .replace(/^[ \t]*(?:[-*+>]|#{1,6}|\d{1,3}\.)[ \t]+/gm, '')
    .replace(/[*_]{2,}|`+/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replace(/[\r\n\t]+/g, ' ')
    .replace(INVISIBLE, '')
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim();
  return shortened(text, limit);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

/**
 * Cuts a text after the last sentence that ends in the second half of the limit, otherwise after the last word that
 * ends there, otherwise at the limit.
 */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text
    .slice(0, limit - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '');
  const sentence = head.lastIndexOf('. ');
  if (sentence > limit / 2) return head.slice(0, sentence + 1);
  const word = head.lastIndexOf(' ');
  return `${head.slice(0, word > limit / 2 ? word : head.length)}…`;
}
