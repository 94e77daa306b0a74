/** The headers of a response, names in lower case; a repeated one has a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header, several as one (RFC 9110 §5.3). */
export function headerOf(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
