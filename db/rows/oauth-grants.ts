import type { EnvironmentId } from '../environment-id.ts';

/** What a user has granted to a client of one MCP server. */
export interface OAuthGrantRow {
  id: string;
  environmentId: EnvironmentId;
  /** The id of a registered client, or the address of its document. */
  clientId: string;
  clientName: string;
  clientKind: 'REGISTERED' | 'DYNAMIC' | 'DOCUMENT';
  redirectHost: string;
  serverId: string;
  /** An empty text for none. */
  organizationId: string;
  /** An empty text for none. */
  userId: string;
  identifier: string;
  userVerifyUrl: string | null;
  scopes: string[];
  apiClientId: string;
  /** Number of the refresh token that is valid. */
  generation: number;
  /** When the refresh tokens before it were replaced, the latest first. */
  retiredAt: number[];
  createdAt: number;
  usedAt: number;
  expiresAt: number;
}

export type NewOAuthGrant = Omit<OAuthGrantRow, 'environmentId'>;

/** The user of a grant. */
export type GrantUser = Pick<OAuthGrantRow, 'organizationId' | 'userId' | 'identifier'>;

export interface GrantFilters {
  organizationId?: string | undefined;
  userId?: string | undefined;
  identifier?: string | undefined;
  clientId?: string | undefined;
  serverId?: string | undefined;
}
