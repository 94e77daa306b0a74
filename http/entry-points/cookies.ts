import type { IncomingMessage } from 'node:http';
import { isToken } from '../../core/accounts/links/tokens.ts';

/**
 * Returns the value of a cookie; undefined if there is none, if several cookies have the name, or if the value is
 * invalid.
 *
 * @param isValue whether a text has the format of the value; by default, that of a token
 */
export function readCookie(
  req: IncomingMessage,
  name: string,
  isValue: (text: string | undefined) => boolean = isToken,
): string | undefined {
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && isValue(values[0]) ? values[0] : undefined;
}
