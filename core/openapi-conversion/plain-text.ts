/** Characters that are invisible or change the direction of text. Imports remove them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu;

/**
 * Turns untrusted Markdown or HTML into one line of plain text. A model reads it, so it is short and has no invisible characters.
 *
 * @param limit in characters; longer text is cut at a word, with an ellipsis
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

/** Shortens a text at the end of a sentence if there is one nearby, otherwise at a word. */
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
