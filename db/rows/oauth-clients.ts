import type { EnvironmentId } from '../environment-id.ts';

export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';

/** A client of MCP servers that was registered by an administrator (`REGISTERED`) or by itself (`DYNAMIC`). */
export interface OAuthClientRow {
  id: string;
  environmentId: EnvironmentId;
  kind: 'REGISTERED' | 'DYNAMIC';
  name: string;
  redirectUris: string[];
  authMethod: ClientAuthMethod;
  /** null for a public client. */
  secretDigest: Buffer | null;
  /** Whether it uses refresh tokens. */
  refreshes: boolean;
  /** Digest of the address that it registered itself from. */
  originDigest: Buffer | null;
  createdAt: number;
  /** When it last got a token; null: never. */
  usedAt: number | null;
}

export type NewOAuthClient = Omit<OAuthClientRow, 'environmentId' | 'usedAt'>;
