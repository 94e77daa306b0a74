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
  /** The digest of the network address from which the client registered itself; null for other clients. */
  originDigest: Buffer | null;
  createdAt: number;
  /** When it last received a token; null if never. */
  usedAt: number | null;
}

export type NewOAuthClient = Omit<OAuthClientRow, 'environmentId' | 'usedAt'>;
