export interface ApiClientRow {
  id: string;
  name: string;
  scopes: string[];
  enabled: boolean;
  /** Tokens of an earlier generation are no longer valid. */
  generation: number;
  createdAt: number;
  updatedAt: number;
}

export interface ApiClientSecretRow {
  id: string;
  /** A keyed digest of the secret, 32 bytes, which the caller computes. */
  digest: Buffer;
  /** The beginning of the secret, by which users recognize it. */
  prefix: string;
  createdAt: number;
  expiresAt: number | null;
}

export type NewApiClient = Omit<ApiClientRow, 'enabled' | 'generation' | 'updatedAt'>;

export type NewApiClientSecret = Omit<ApiClientSecretRow, 'expiresAt'> & { expiresAt?: number | null };
