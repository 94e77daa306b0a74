import { Secret } from '../secret.ts';
import { type ResponseShape, toStandardResponse } from './token-shape.ts';

/** The tokens in the response of a token endpoint. */
export interface TokenSet {
  accessToken: Secret;
  /** null: the response has no usable one, so the current refresh token continues to be used (RFC 6749 §6). */
  refreshToken: Secret | null;
  /** null: the response has none, so the requested scopes were granted (RFC 6749 §5.1). */
  scopes: string[] | null;
  /** Milliseconds UTC; null: the response has no lifetime, or one that is invalid or over ten years. */
  expiresAt: number | null;
}

export type TokenResponse =
  /** `answer`: the whole response as JSON, which may contain further details of the account. */
  | { kind: 'tokens'; tokens: TokenSet; answer: Secret }
  /** `code` in lower case; empty if the response contains no code, or one that is not in the usual format. */
  | { kind: 'error'; code: string }
  | { kind: 'unreadable'; problem: string };

export interface TokenReading {
  /** The separator between scopes at this provider. */
  scopeSeparator: string;
  /**
   * When the request was sent, in milliseconds UTC. Lifetimes are counted from then, so that tokens never count as
   * valid for too long.
   */
  requestedAt: number;
  /** How this provider's responses differ from the standard. */
  shape?: ResponseShape;
}

/** The maximum length, in characters. A token response has a few kilobytes; a longer one is usually an HTML page. */
const MAX_BODY = 256 * 1024;
const MAX_TOKEN = 16 * 1024;
/** Longer lifetimes are ignored: they usually mean "never", and may exceed the range of dates. */
const MAX_LIFE_S = 10 * 365 * 24 * 3600;
/** A bearer token is visible ASCII (RFC 6750 §2.1); other characters are not allowed in a header. */
const ACCESS_TOKEN = /^[\x21-\x7e]+$/;
const ERROR_CODE = /^[a-z0-9_.-]{1,64}$/;
/**
 * Token types that a client cannot use by only sending the token, for example because they require a proof of
 * possession. Other types are accepted, because vendors use many names for "bearer" or omit the type.
 */
const BOUND_TOKEN_TYPES: ReadonlySet<string> = new Set(['dpop', 'pop', 'mac', 'n_a']);

/**
 * Parses the response of a token endpoint (RFC 6749 §5), including common deviations (threat R5): an error in a 200, a
 * form-encoded body, a lifetime as a string. Invalid optional members are ignored; a response without a usable token is
 * never a success.
 */
export async function readTokenResponse(response: Response, reading: TokenReading): Promise<TokenResponse> {
  const text = await response.text();
  if (text.length > MAX_BODY) return unreadable(`is longer than ${MAX_BODY} characters`);
  const body = parseJson(text) ?? parseForm(text);
  if (body === undefined) return unreadable('is neither JSON nor a form');
  const standard = toStandardResponse(body, reading.shape ?? {}, reading.requestedAt);
  const code = errorCodeOf(standard) ?? errorCodeOf(body);
  if (code !== undefined) return { kind: 'error', code };

  const accessToken = standard['access_token'];
  if (typeof accessToken !== 'string' || accessToken === '') return unreadable('has no access token');
  if (!ACCESS_TOKEN.test(accessToken) || accessToken.length > MAX_TOKEN)
    return unreadable(`has an access token that is longer than ${MAX_TOKEN} characters or not visible ASCII`);
  const type = standard['token_type'];
  if (typeof type === 'string' && BOUND_TOKEN_TYPES.has(type.toLowerCase())) {
    return unreadable(`has the token type ${type.toLowerCase()}, which is not supported`);
  }
  return {
    kind: 'tokens',
    tokens: {
      accessToken: new Secret(accessToken),
      refreshToken: refreshTokenOf(standard['refresh_token']),
      scopes: scopesOf(standard['scope'], reading.scopeSeparator),
      expiresAt: expiryOf(standard['expires_in'], reading.requestedAt),
    },
    answer: new Secret(JSON.stringify(body)),
  };
}

type Body = Record<string, unknown>;

function unreadable(problem: string): TokenResponse {
  return { kind: 'unreadable', problem };
}

function parseJson(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
  } catch {
    return undefined;
  }
}

/** Parses a form-encoded body. It must begin with a name, so that a web page that contains a token is not accepted. */
function parseForm(text: string): Body | undefined {
  if (!/^\w{1,40}=/.test(text)) return undefined;
  const form = new URLSearchParams(text.trim());
  if (!form.has('access_token') && !form.has('error')) return undefined;
  return Object.fromEntries(form);
}

/**
 * Returns the error code of a response. The member `error` is the code, or an object that contains it.
 *
 * @returns undefined if the response has no error; an empty string if its code is missing or has an unusual format
 */
function errorCodeOf(body: Body): string | undefined {
  const { error } = body;
  const inner = typeof error === 'object' && error !== null ? (error as Body) : undefined;
  const code = inner ? (inner['code'] ?? inner['type'] ?? '') : error;
  if (inner === undefined && (typeof code !== 'string' || code === '')) return undefined;
  const text = String(code).toLowerCase();
  return ERROR_CODE.test(text) ? text : '';
}

function refreshTokenOf(value: unknown): Secret | null {
  const usable = typeof value === 'string' && value !== '' && value.length <= MAX_TOKEN && value.isWellFormed();
  return usable ? new Secret(value) : null;
}

/**
 * Reads the scopes. Responses separate them by spaces or commas, regardless of the separator in requests; a plus sign
 * only counts as a separator if requests use it.
 */
function scopesOf(value: unknown, separator: string): string[] | null {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,]+/) : [];
  const texts = parts.filter((part) => typeof part === 'string');
  const scopes = separator === '+' ? texts.flatMap((text) => text.split('+')) : texts;
  const distinct = [...new Set(scopes.filter((scope) => scope !== ''))];
  return distinct.length > 0 ? distinct : null;
}

function expiryOf(seconds: unknown, requestedAt: number): number | null {
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MAX_LIFE_S)) return null;
  return requestedAt + Math.floor(seconds * 1000);
}
