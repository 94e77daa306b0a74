import { MCP_LOGIN } from '../budgets.ts';

/** Plain http on this machine, as RFC 8252 §7.3 has it for native applications: host, port, rest. */
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?((?:[/?].*)?)$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** Private schemes of native applications that are accepted where an environment lists none. */
export const DEFAULT_SCHEMES: readonly string[] = ['cursor'];

/** Schemes that a browser acts upon by itself. */
const NEVER = new Set(
  'about blob chrome data file filesystem ftp http https intent jar javascript mailto sms tel vbscript view-source ws wss'.split(
    ' ',
  ),
);

/** Why a private scheme cannot be listed; undefined when it can. */
export function schemeProblem(scheme: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]{1,49}$/.test(scheme)) return 'must be a URI scheme in lower case, without a colon';
  return NEVER.has(scheme) ? 'is not a scheme of an application' : undefined;
}

/**
 * Why an address cannot be one that a client registers; undefined when it can. It is https, http on this machine, or a listed private
 * scheme, and written as a URL parser writes it, so that what was registered is what a browser is told.
 *
 * @param schemes the private schemes that the environment accepts
 */
export function redirectUriProblem(text: string, schemes: readonly string[]): string | undefined {
  if (text.length > MCP_LOGIN.redirectUriChars || !PRINTABLE.test(text))
    return 'is too long or has other characters than ASCII';
  const url = URL.parse(text);
  if (!url) return 'is not an absolute URI';
  if (text.includes('#')) return 'must not have a fragment';
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (url.protocol === 'http:') return LOOPBACK.test(text) ? undefined : 'must use https, except on this machine';
  if (url.protocol === 'https:')
    return text === url.href || `${text}/` === url.href ? undefined : `must be written as ${url.href}`;
  return schemes.includes(url.protocol.slice(0, -1)) && text.startsWith(url.protocol)
    ? undefined
    : 'must use https, or a scheme that this server accepts';
}

/**
 * Whether a requested address is a registered one (OAuth 2.1 §2.3.1, RFC 8252 §7.3): character for character, except for the port of an
 * address on this machine, which the system chooses for each login.
 */
export function isRegistered(requested: string, registered: readonly string[]): boolean {
  const wanted = withoutPort(requested);
  return registered.some((uri) => uri === requested || (wanted !== undefined && withoutPort(uri) === wanted));
}

/** Whether an address is one on the machine of the user: any program there could be listening. */
export function isOnUsersMachine(uri: string): boolean {
  return LOOPBACK.test(uri);
}

/** What a person is shown of an address: its host, or the scheme of an application. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'http:' || protocol === 'https:' ? host : protocol;
}

function withoutPort(uri: string): string | undefined {
  const [, host, port, rest] = LOOPBACK.exec(uri) ?? [];
  return host === undefined || Number(port ?? 0) > 65_535 ? undefined : `${host}${rest}`;
}
