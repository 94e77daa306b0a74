import type { EnvironmentId } from '../environment-id.ts';

/** Sealed bytes that are kept for a limited time. */
export interface StoredContentRow {
  /** The id of the file, or of the execution. */
  id: string;
  environmentId: EnvironmentId;
  kind: 'file' | 'execution';
  /** They are removed with this account; accounts of the same owner may use them. */
  accountId: string;
  organizationId: string;
  userId: string;
  size: number;
  kekId: string;
  wrappedDataKey: Buffer;
  sealed: Buffer;
  createdAt: number;
  expiresAt: number;
}

export type NewStoredContent = Omit<StoredContentRow, 'environmentId'>;

/** What is known of them without opening them. */
export type StoredContentFacts = Omit<StoredContentRow, 'wrappedDataKey' | 'sealed' | 'kekId'>;
