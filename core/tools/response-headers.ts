/** The headers of a response, with names in lower case; a repeated header has a list of values. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the value of a header; several values are joined (RFC 9110 §5.3). */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
