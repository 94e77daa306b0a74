import type { IncomingMessage } from 'node:http';
import type { Environment } from '../pipeline/environments.ts';
import { readCookie } from './cookies.ts';

/** A cookie with a secret that identifies a browser. */
export interface BrowserCookie {
  /** Returns the secret of the browser; undefined if it has none, or sends several cookies of that name. */
  read(req: IncomingMessage, environment: Environment): string | undefined;
  /** Returns the value of a Set-Cookie header. */
  set(environment: Environment, secret: string): string;
  /** Returns the value of a Set-Cookie header that removes the cookie. */
  remove(environment: Environment): string;
}

/**
 * Creates a cookie that only this host can set and read. With the prefix `__Host-`, browsers reject it from any other
 * host and without TLS. The prefix cannot be used with plain http, which is only for loopback. `SameSite=Lax`, because
 * users arrive by navigation from other sites: from the provider and from the application.
 *
 * @param isValue whether a text has the format of the value; by default, that of a token
 */
export function browserCookie(name: string, isValue?: (text: string | undefined) => boolean): BrowserCookie {
  const nameIn = (environment: Environment) => (isSecure(environment) ? `__Host-${name}` : name);
  const attributes = (environment: Environment) =>
    `Path=/; HttpOnly; SameSite=Lax${isSecure(environment) ? '; Secure' : ''}`;
  return {
    read: (req, environment) => readCookie(req, nameIn(environment), isValue),
    set: (environment, secret) => `${nameIn(environment)}=${secret}; ${attributes(environment)}`,
    remove: (environment) => `${nameIn(environment)}=; Max-Age=0; ${attributes(environment)}`,
  };
}

function isSecure({ baseUrl }: Environment): boolean {
  return baseUrl.startsWith('https:');
}
