import { clientRefused, type TokenFailure, type UnavailableReason, unavailable } from '../oauth/refresh-outcome.ts';
import { readRetryAfter } from '../oauth/retry-after.ts';
import { clockDifference } from '../oauth1/server-clock.ts';
import { Secret } from '../secret.ts';
import type { TemporaryCredentials } from './temporary-credentials.ts';
import { readXml, textAt, type XmlElement } from './xml.ts';

export type AssumeRoleOutcome =
  | {
      ok: true;
      credentials: TemporaryCredentials;
      /** The ARN of the role's session; null if the response does not contain it. */
      principal: string | null;
    }
  | TokenFailure;

export interface SentRequest {
  /** When the request was sent, in milliseconds UTC. */
  requestedAt: number;
  /** The requested lifetime in seconds. */
  durationS: number;
  /** Milliseconds UTC. */
  now: number;
}

const ERROR_CODE = /^[A-Za-z][A-Za-z.]{1,63}$/;

/** Error codes of temporary failures. All others concern the role, its trust policy, the issuer or the token. */
const UNAVAILABLE: Readonly<Record<string, UnavailableReason>> = {
  // The cloud could not read the issuer's keys because of a network failure.
  IDPCommunicationError: 'unreachable',
  InternalError: 'server_error',
  InternalFailure: 'server_error',
  ServiceUnavailable: 'server_error',
  RequestLimitExceeded: 'rate_limited',
  Throttling: 'rate_limited',
};

/**
 * Error codes for a rejected identity token. The connection is at fault, because it determines the audience and issuer
 * of the token. Other codes concern the account's role.
 */
const OF_THE_TOKEN: ReadonlySet<string> = new Set(['InvalidIdentityToken', 'IDPRejectedClaim', 'ExpiredToken']);

/**
 * Evaluates the XML response of a token service, for successes and failures. The error code determines the outcome of a
 * failure, with two exceptions: status 429 is a rate limit, and a status of 500 or more is a server error, unless the
 * code is in `UNAVAILABLE`. Only the code is passed on, never the cloud's text.
 */
export async function readResponse(response: Response, asked: SentRequest): Promise<AssumeRoleOutcome> {
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), asked.now);
  if (status === 429) return unavailable('rate_limited', false, retryAfterMs);
  const answer = readXml(await response.text());
  const code = codeIn(answer) ?? '';
  const reason = Object.hasOwn(UNAVAILABLE, code) ? UNAVAILABLE[code] : undefined;
  if (reason !== undefined)
    return unavailable(reason, false, retryAfterMs, `The token service is temporarily unavailable (${code}).`);
  if (status >= 500) return unavailable('server_error', false, retryAfterMs);
  if (OF_THE_TOKEN.has(code)) {
    return clientRefused(
      `The cloud provider does not accept the identity token of the connection (${code}). Check the client_id.`,
      'connection',
    );
  }
  if (code !== '') {
    return clientRefused(
      `The cloud provider does not allow the account to assume its role (${code}). Check role_arn and the role.`,
      'account',
    );
  }
  const granted = response.ok ? credentialsIn(answer, asked, headers) : undefined;
  if (granted) return granted;
  return unavailable(
    'invalid_response',
    false,
    retryAfterMs,
    `The token service returned ${status} without credentials.`,
  );
}

function codeIn(answer: XmlElement | undefined): string | undefined {
  if (answer?.name !== 'ErrorResponse') return undefined;
  const code =
    textAt(answer, 'Error', 'Code')
      ?.trim()
      .replace(/Exception$/, '') ?? '';
  return ERROR_CODE.test(code) ? code : undefined;
}

function credentialsIn(
  answer: XmlElement | undefined,
  asked: SentRequest,
  headers: Headers,
): AssumeRoleOutcome | undefined {
  if (answer?.name !== 'AssumeRoleWithWebIdentityResponse') return undefined;
  const at = (...path: string[]) => textAt(answer, 'AssumeRoleWithWebIdentityResult', ...path)?.trim() ?? '';
  const accessKeyId = at('Credentials', 'AccessKeyId');
  const secretAccessKey = at('Credentials', 'SecretAccessKey');
  const sessionToken = at('Credentials', 'SessionToken');
  const end = Date.parse(at('Credentials', 'Expiration'));
  if (!/^\w{16,128}$/.test(accessKeyId) || !isToken(secretAccessKey) || !isToken(sessionToken)) return undefined;
  // The expiry is converted to our clock, which checks it later, and limited to the requested lifetime.
  const ends = end - (clockDifference(headers, asked.now) ?? 0);
  const expiresAt = Math.min(ends, asked.requestedAt + asked.durationS * 1000);
  if (!(expiresAt > asked.now)) return undefined;
  return {
    ok: true,
    credentials: {
      accessKeyId,
      secretAccessKey: new Secret(secretAccessKey),
      sessionToken: new Secret(sessionToken),
      expiresAt,
    },
    principal: at('AssumedRoleUser', 'Arn') || null,
  };
}

/** Whether a text is visible ASCII, because one of the credentials is sent in a header. */
function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,16384}$/.test(text);
}
