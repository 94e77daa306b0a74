import type { EnvironmentId } from '../environment-id.ts';

/** A user's grant to a client of one MCP server. */
export interface OAuthGrantRow {
  id: string;
  environmentId: EnvironmentId;
  /** The id of a registered client, or the address of the metadata document of a client of the kind `DOCUMENT`. */
  clientId: string;
  clientName: string;
  clientKind: 'REGISTERED' | 'DYNAMIC' | 'DOCUMENT';
  redirectHost: string;
  serverId: string;
  /** Empty if there is none. */
  organizationId: string;
  /** Empty if there is none. */
  userId: string;
  identifier: string;
  userVerifyUrl: string | null;
  scopes: string[];
  /** The API client or the login provider that identified the user. */
  identifiedBy: string;
  /** The number of the valid refresh token. */
  generation: number;
  /** The times at which earlier refresh tokens were replaced, the latest first. */
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
