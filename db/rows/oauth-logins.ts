import type { EnvironmentId } from '../environment-id.ts';
import type { OAuthGrantRow } from './oauth-grants.ts';

/**
 * OPEN: the application must identify the user. COMPLETED: the browser must continue. CONSENT: the user must decide.
 * CODE: the client must exchange the code. SPENT: the client has exchanged the code, or its attempt failed.
 */
export type LoginState = 'OPEN' | 'COMPLETED' | 'CONSENT' | 'CODE' | 'SPENT';

/** The validated request of a client. */
export interface LoginRequest
  extends Pick<OAuthGrantRow, 'clientId' | 'clientName' | 'clientKind' | 'serverId' | 'scopes'> {
  redirectUri: string;
  /** The S256 challenge (RFC 7636). */
  codeChallenge: string;
  /** The client's `state`; null if it sent none. */
  state: string | null;
  /** Whether the client uses refresh tokens. */
  refreshes: boolean;
  /** Whether the client requests that the user is always asked for consent. */
  asksConsent: boolean;
  /** The login provider of the environment, if the user logs in there. */
  loginProvider?: {
    id: string;
    /** The sealed data of the authorization request to the provider. */
    kept: string;
  };
}

/** The user, and who identified them. */
export interface LoginSubject
  extends Pick<OAuthGrantRow, 'organizationId' | 'userId' | 'identifier' | 'userVerifyUrl' | 'identifiedBy'> {}

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
