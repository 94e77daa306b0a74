import type { EnvironmentId } from '../environment-id.ts';
import type { OAuthGrantRow } from './oauth-grants.ts';

/**
 * OPEN: the application must say who the user is. COMPLETED: it has, and the browser must continue. CONSENT: the user decides. CODE: the
 * client must exchange the code. SPENT: it has, or has failed to.
 */
export type LoginState = 'OPEN' | 'COMPLETED' | 'CONSENT' | 'CODE' | 'SPENT';

/** What a client requested, judged. */
export interface LoginRequest
  extends Pick<OAuthGrantRow, 'clientId' | 'clientName' | 'clientKind' | 'serverId' | 'scopes'> {
  redirectUri: string;
  /** S256 challenge (RFC 7636). */
  codeChallenge: string;
  /** `state` of the client; null: it sent none. */
  state: string | null;
  /** Whether the client uses refresh tokens. */
  refreshes: boolean;
  /** Whether the client wants the user to be asked in any case. */
  asksConsent: boolean;
}

/** Who the user is, and who says so. */
export interface LoginSubject
  extends Pick<OAuthGrantRow, 'organizationId' | 'userId' | 'identifier' | 'userVerifyUrl' | 'apiClientId'> {}

export interface OAuthLoginRow {
  id: string;
  environmentId: EnvironmentId;
  state: LoginState;
  tokenDigest: Buffer;
  browserDigest: Buffer;
  request: LoginRequest;
  subject: LoginSubject | null;
  grantId: string | null;
  createdAt: number;
  expiresAt: number;
}

export type NewOAuthLogin = Pick<
  OAuthLoginRow,
  'id' | 'tokenDigest' | 'browserDigest' | 'request' | 'createdAt' | 'expiresAt'
>;

/** The next state of a login. */
export interface LoginStep extends Pick<OAuthLoginRow, 'state' | 'tokenDigest' | 'expiresAt' | 'subject' | 'grantId'> {}
