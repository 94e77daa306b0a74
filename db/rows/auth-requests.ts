import type { EnvironmentId } from '../environment-id.ts';

/**
 * OPEN: the link can be used. PENDING_VERIFICATION: a user has finished the link, and the encrypted grant is stored
 * until the user has been verified by the application or by the OpenID provider, or the link ends. The other states are
 * final, and no encrypted data is stored in them.
 */
export type AuthRequestState = 'OPEN' | 'PENDING_VERIFICATION' | 'CONSUMED' | 'FAILED' | 'EXPIRED';

export type AuthRequestEnd = Exclude<AuthRequestState, 'OPEN' | 'PENDING_VERIFICATION'>;

/** An authorization link and its outcome. */
export interface AuthRequestRow {
  id: string;
  environmentId: EnvironmentId;
  accountId: string;
  connectionId: string;
  state: AuthRequestState;
  linkDigest: Buffer;
  linkExpiresAt: number;
  requestDigest: Buffer | null;
  identifier: string;
  userVerifyUrl: string | null;
  callerState: string | null;
  origins: string[];
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  pendingSealed: Buffer | null;
  mismatches: number;
  createdAt: number;
  expiresAt: number;
  endedAt: number | null;
  /** The language that the application requested for the pages; null: that of the browser. */
  language: string | null;
  /** Why the last attempt of a user failed, as an error code of OAuth; null if it did not fail. */
  error: string | null;
}

export type NewAuthRequest = Pick<
  AuthRequestRow,
  | 'id'
  | 'accountId'
  | 'connectionId'
  | 'linkDigest'
  | 'linkExpiresAt'
  | 'identifier'
  | 'userVerifyUrl'
  | 'callerState'
  | 'createdAt'
  | 'expiresAt'
  | 'language'
>;

/** The encrypted grant of a finished link. */
export interface PendingGrant {
  requestDigest: Buffer;
  origins: string[];
  wrappedDataKey: Buffer;
  kekId: string;
  pendingSealed: Buffer;
  /** Milliseconds UTC after which it can no longer be verified. */
  expiresAt: number;
}
