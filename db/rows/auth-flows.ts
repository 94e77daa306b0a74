import type { EnvironmentId } from '../environment-id.ts';

/** One redirect of a user to a provider, from which the user may return once. */
export interface AuthFlowRow {
  stateDigest: Buffer;
  environmentId: EnvironmentId;
  requestId: string;
  connectionId: string;
  browserDigest: Buffer;
  /** Encrypted data that is needed when the user returns; null after the flow was used. */
  keptSealed: Buffer | null;
  createdAt: number;
  expiresAt: number;
  spentAt: number | null;
}

export type NewAuthFlow = Omit<AuthFlowRow, 'environmentId' | 'keptSealed' | 'spentAt'> & { keptSealed: Buffer };
