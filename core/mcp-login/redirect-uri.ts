import { MCP_LOGIN } from '../budgets.ts';

/** A loopback URL of a native application (RFC 8252 §7.3): host, port, rest. */
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?((?:[/?].*)?)$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** The private schemes of native applications that are accepted by default. */
export const DEFAULT_SCHEMES: readonly string[] = ['cursor'];

/** Schemes that browsers or operating systems handle themselves. */
const NEVER = new Set(
  'about blob chrome data file filesystem ftp http https intent jar javascript mailto sms tel vbscript view-source ws wss'.split(
    ' ',
  ),
);

/** Returns why a private scheme cannot be accepted; undefined if it can. */
export function schemeProblem(scheme: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]{1,49}$/.test(scheme)) return 'must be a URI scheme in lower case, without a colon';
  return NEVER.has(scheme) ? 'is reserved for browsers and operating systems' : undefined;
}

/**
 * Returns why a client cannot register a redirect URI; undefined if it can. A redirect URI is an https URL in
 * normalized form (the slash of an empty path may be missing), an http URL of the loopback interface, or a URI with an
 * accepted private scheme.
 *
 * @param schemes the private schemes that the environment accepts
 */
export function redirectUriProblem(text: string, schemes: readonly string[]): string | undefined {
  if (text.length > MCP_LOGIN.redirectUriChars || !PRINTABLE.test(text))
    return `must have at most ${MCP_LOGIN.redirectUriChars} characters, all of them visible ASCII`;
  const url = URL.parse(text);
  if (!url) return 'is not an absolute URI';
  if (text.includes('#')) return 'must not have a fragment';
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (url.protocol === 'http:')
    return LOOPBACK.test(text) ? undefined : 'must use https, except for localhost, 127.0.0.1 and [::1]';
  if (url.protocol === 'https:')
    return text === url.href || `${text}/` === url.href ? undefined : `must be written as ${url.href}`;
  return schemes.includes(url.protocol.slice(0, -1)) && text.startsWith(url.protocol)
    ? undefined
    : 'must use https, or a scheme in mcp_redirect_schemes of the environment';
}

/**
 * Whether a requested redirect URI is registered (OAuth 2.1 §2.3.1, RFC 8252 §7.3). Redirect URIs are compared exactly,
 * except for the port of loopback URLs, because native applications get another port for each login.
 */
export function isRegistered(requested: string, registered: readonly string[]): boolean {
  const wanted = withoutPort(requested);
  return registered.some((uri) => uri === requested || (wanted !== undefined && withoutPort(uri) === wanted));
}

/** Whether a redirect URI is on the user's machine, where any program could be listening. */
export function isOnUsersMachine(uri: string): boolean {
  return LOOPBACK.test(uri);
}

/** The part of a redirect URI that users see: its host, with a port that is not the default, or its private scheme. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'http:' || protocol === 'https:' ? host : protocol;
}

function withoutPort(uri: string): string | undefined {
  const [, host, port, rest] = LOOPBACK.exec(uri) ?? [];
  return host === undefined || Number(port ?? 0) > 65_535 ? undefined : `${host}${rest}`;
}
