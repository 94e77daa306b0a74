import type { EnvironmentId } from '../environment-id.ts';

/** CREATED: the one-time URL was not opened yet. OPEN: a browser has the session. */
export type PortalSessionState = 'CREATED' | 'OPEN';

/** A session in which a user sees and manages their accounts. A session that ends is deleted. */
export interface PortalSessionRow {
  id: string;
  environmentId: EnvironmentId;
  state: PortalSessionState;
  /** The digest of the secret in the one-time URL; after that, of the cookie. */
  tokenDigest: Buffer;
  /** Empty if there is none. */
  organizationId: string;
  /** Empty if there is none. */
  userId: string;
  identifier: string;
  userVerifyUrl: string | null;
  returnUrl: string | null;
  /** The language that the application asked for; null for that of the browser. */
  language: string | null;
  /** The API client or operator session that created the session, or the login provider that identified its user. */
  apiClientId: string;
  createdAt: number;
  expiresAt: number;
}

export type NewPortalSession = Omit<PortalSessionRow, 'environmentId' | 'state'>;
