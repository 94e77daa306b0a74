import type { IncomingMessage } from 'node:http';
import { isToken } from '../../core/accounts/links/tokens.ts';

/** Returns the secret in a cookie; undefined if there is none, or several cookies have the name. */
export function readCookie(req: IncomingMessage, name: string): string | undefined {
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && isToken(values[0]) ? values[0] : undefined;
}
