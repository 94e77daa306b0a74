/**
 * Returns a token whose second-to-last character is changed. A change of the last character of a base64 text might not
 * change the encoded bytes, because some of its bits can be unused.
 */
export function altered(token: string): string {
  return `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.slice(-1)}`;
}
