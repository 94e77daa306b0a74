import type { AuthInfo } from '@modelcontextprotocol/server';
import type { EnvironmentRow } from '../../db/store.ts';
import type { McpServerDefinition } from './server-definition.ts';

/** The user on whose behalf a client of an MCP server acts, as accounts name their owners. */
export interface McpUser {
  organizationId: string | undefined;
  userId: string | undefined;
  identifier: string;
}

/** What a session token stands for. */
export interface McpGrant {
  /** The API client that asked for the token. */
  clientId: string;
  user: McpUser;
  /** Where users go who connect an account on the way; null: the application makes links itself. */
  userVerifyUrl: string | null;
  /** Whether accounts may be made, and links handed out: the API client held `accounts:write`. */
  mayConnect: boolean;
  /** Milliseconds UTC. */
  expiresAt: number;
}

/** One request to an MCP server, authenticated. */
export interface McpSession {
  environment: EnvironmentRow;
  server: McpServerDefinition;
  grant: McpGrant;
  requestId: string;
}

/** The session in the form that the protocol's package hands through to handlers. */
export function toAuthInfo(session: McpSession): AuthInfo {
  const { clientId, expiresAt } = session.grant;
  return { token: '', clientId, scopes: [], expiresAt: Math.floor(expiresAt / 1000), extra: { session } };
}

/** @throws Error when the request did not come through `toAuthInfo` */
export function sessionOf(auth: AuthInfo | undefined): McpSession {
  const session = auth?.extra?.['session'];
  if (!session) throw new Error('the request has no session');
  return session as McpSession;
}

/** One text for each user of each server by each API client. */
export function ownerOf({ environment, server, grant }: McpSession): string {
  const { organizationId = null, userId = null, identifier } = grant.user;
  return JSON.stringify([environment.id, server.id, grant.clientId, organizationId, userId, identifier]);
}
