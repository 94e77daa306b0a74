/** Returns a token in which one character differs: the last but one, because every bit of it counts in base64. */
export function altered(token: string): string {
  return `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.slice(-1)}`;
}
