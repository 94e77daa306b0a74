/** The errors of the token endpoint (RFC 6749 §5.2, RFC 8707 §2). */
export type TokenErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'unauthorized_client';

export interface TokenError {
  error: TokenErrorCode;
  /** A fixed text without quotes and backslashes, as the grammar of RFC 6749 requires. */
  description: string;
  status: 400 | 401;
  /**
   * Whether the response must contain `WWW-Authenticate: Basic`, because the client tried to authenticate by header.
   */
  challenge: boolean;
}

export function tokenError(error: Exclude<TokenErrorCode, 'invalid_client'>, description: string): TokenError {
  return { error, description, status: 400, challenge: false };
}

/**
 * Returns the same error for every failed client authentication: unknown client, disabled client, wrong secret or
 * unreadable credentials.
 */
export function invalidClient(challenge: boolean): TokenError {
  return { error: 'invalid_client', description: 'Client authentication failed', status: 401, challenge };
}
