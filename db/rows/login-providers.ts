import type { EnvironmentId } from '../environment-id.ts';
import type { ClientAuthMethod } from './oauth-clients.ts';

/**
 * OIDC: users log in at an OpenID provider. JWT: MCP clients send access tokens of an external authorization server.
 */
export type LoginProviderType = 'OIDC' | 'JWT';

/** The names of the claims from which the owner of accounts is read. */
export interface IdentityClaims {
  identifier: string;
  /** null if users have none. */
  userId: string | null;
  organizationId: string | null;
}

/** The client with which users log in at an OpenID provider. */
export interface OidcSettings {
  clientId: string;
  authMethod: ClientAuthMethod;
  scopes: string[];
}

/** What an access token of an external authorization server must contain. */
export interface JwtSettings {
  /** Accepted audiences in addition to the addresses of the MCP server. */
  audiences: string[];
  /** null: tokens of all clients are accepted. */
  clientIds: string[] | null;
  algorithms: string[];
  /** The scopes that MCP clients should request; empty for none. */
  scopes: string[];
}

export interface LoginProviderRow {
  id: string;
  environmentId: EnvironmentId;
  type: LoginProviderType;
  issuer: string;
  claims: IdentityClaims;
  /** null: all organizations are allowed. */
  allowedOrganizations: string[] | null;
  /** Where users return after connecting an account; null if only connections without verification have links. */
  userVerifyUrl: string | null;
  /** null for the type `JWT`. */
  oidc: OidcSettings | null;
  jwt: JwtSettings | null;
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  clientSecretSealed: Buffer | null;
  createdAt: number;
  updatedAt: number;
}

export type NewLoginProvider = Omit<LoginProviderRow, 'environmentId'>;
