import type { EnvironmentId } from '../environment-id.ts';

/** A flow of a user who was redirected to a provider and may return once. */
export interface AuthFlowRow {
  stateDigest: Buffer;
  environmentId: EnvironmentId;
  requestId: string;
  connectionId: string;
  browserDigest: Buffer;
  /** null after the flow was used. */
  keptSealed: Buffer | null;
  createdAt: number;
  expiresAt: number;
  spentAt: number | null;
}

export type NewAuthFlow = Omit<AuthFlowRow, 'environmentId' | 'keptSealed' | 'spentAt'> & { keptSealed: Buffer };
