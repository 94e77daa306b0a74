import type { EnvironmentId } from '../environment-id.ts';

export type OperatorRole = 'OWNER' | 'EDITOR' | 'VIEWER';

/** OFFERED: the one-time address was not used yet. OPEN: a browser has the session. */
export type OperatorSessionState = 'OFFERED' | 'OPEN';

/** A session of an operator in the console. */
export interface OperatorSessionRow {
  id: string;
  environmentId: EnvironmentId;
  state: OperatorSessionState;
  /** The name of the operator, as the audit log records it. */
  operator: string;
  role: OperatorRole;
  /** Keyed digest of the token of the one-time address; of the cookie once the session is open. */
  tokenDigest: Buffer;
  createdAt: number;
  usedAt: number | null;
  expiresAt: number;
}

export type NewOperatorSession = Omit<OperatorSessionRow, 'environmentId'>;
