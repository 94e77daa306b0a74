import type { IncomingMessage } from 'node:http';
import { isToken } from '../../core/accounts/links/tokens.ts';
import type { Environment } from '../environments.ts';

/**
 * The cookie by which a browser that went to a provider is known again (threat L3). The prefix has browsers refuse it from any other
 * host and without TLS; plain http is for loopback, where the prefix could not be used.
 */
function cookieName(environment: Environment): string {
  return isSecure(environment) ? '__Host-valetkey-flow' : 'valetkey-flow';
}

function isSecure({ baseUrl }: Environment): boolean {
  return baseUrl.startsWith('https:');
}

/** The secret of the browser; undefined when it has none, or sends several of that name. */
export function readFlowCookie(req: IncomingMessage, environment: Environment): string | undefined {
  const name = cookieName(environment);
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && isToken(values[0]) ? values[0] : undefined;
}

/** The value of a Set-Cookie header. `Lax`, because the way back from the provider is a link from another site. */
export function flowCookie(environment: Environment, secret: string): string {
  const secure = isSecure(environment) ? '; Secure' : '';
  return `${cookieName(environment)}=${secret}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}
