/** Returns the content of a text file without the byte order mark that some editors put in front. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
