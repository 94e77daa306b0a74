/** The errors of the token endpoint (RFC 6749 §5.2). */
export type TokenErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'unauthorized_client';

export interface TokenError {
  error: TokenErrorCode;
  /** Fixed text, without quotes and backslashes, as the grammar demands. */
  description: string;
  status: 400 | 401;
  /** Whether the response must have `WWW-Authenticate: Basic`: the client tried to authenticate by header. */
  challenge: boolean;
}

export function tokenError(error: Exclude<TokenErrorCode, 'invalid_client'>, description: string): TokenError {
  return { error, description, status: 400, challenge: false };
}

/** The same response for every failure of client authentication: unknown, disabled, wrong secret or unreadable. */
export function invalidClient(challenge: boolean): TokenError {
  return { error: 'invalid_client', description: 'Client authentication failed', status: 401, challenge };
}
