import type { EnvironmentId } from '../environment-id.ts';

/** Encrypted bytes that are stored for a limited time. */
export interface StoredContentRow {
  /** The id of the file, or of the execution. */
  id: string;
  environmentId: EnvironmentId;
  kind: 'file' | 'execution';
  /** The contents are deleted with this account. Accounts of the same owner may use them. */
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

/** The columns that are readable without decryption. */
export type StoredContentFacts = Omit<StoredContentRow, 'wrappedDataKey' | 'sealed' | 'kekId'>;
