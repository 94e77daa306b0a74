import { isCallerHeader, isHeaderText } from '../connectors/header-names.ts';
import { atPointer } from './pointer.ts';
import type { ToolStep } from './tool.ts';

/** A response that lists more headers is rejected. Signed uploads need about five. */
const MAX_HEADERS = 20;
const MAX_CHARS = 8_192;

/**
 * Returns the headers that the previous response lists for a step, with names in lower case, or an error message.
 *
 * @param step without `headers_from`, the result is empty
 * @param body the body of the previous response
 */
export function listedHeaders({ headers_from: from }: ToolStep, body: unknown): Record<string, string> | string {
  if (from === undefined) return {};
  const list = atPointer(body, from.list);
  if (!Array.isArray(list))
    return `The response of the provider has no list ${from.list}, which the next request needs.`;
  if (list.length > MAX_HEADERS) return `The response of the provider lists more than ${MAX_HEADERS} headers.`;
  const headers: Record<string, string> = {};
  let chars = 0;
  for (const [index, entry] of list.entries()) {
    const [name, value] = [atPointer(entry, from.name), atPointer(entry, from.value)];
    const place = `${from.list}/${index}`;
    if (typeof name !== 'string' || typeof value !== 'string')
      return `The response of the provider has no header at ${place}, which the next request needs.`;
    if (!isCallerHeader(name)) return `The response of the provider lists a header at ${place} that must not be set.`;
    if (!isHeaderText(value))
      return `The header at ${place} of the provider's response must have only visible ASCII characters.`;
    chars += name.length + value.length;
    if (chars > MAX_CHARS) return `The response of the provider lists headers of more than ${MAX_CHARS} characters.`;
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}
