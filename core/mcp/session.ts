import type { AuthInfo } from '@modelcontextprotocol/server';
import type { EnvironmentRow } from '../../db/store.ts';
import type { ApiError, AuthFailure } from '../errors.ts';
import type { McpServerDefinition } from './server-definition.ts';

/** The user that an MCP client acts for, identified by the same fields as the owner of an account. */
export interface McpUser {
  organizationId: string | undefined;
  userId: string | undefined;
  identifier: string;
}

/** The permissions of a request's token. */
export interface McpGrant {
  /**
   * The caller's id in limits and records: the API client (or operator) that requested a session token, the grant (the
   * stored consent) of a user who logged in, or an id from `verify-jwt.ts` for an external access token.
   */
  clientId: string;
  /**
   * The client that MCP sessions belong to: the API client (or operator session) that requested a session token, or the
   * MCP client for which a user logged in. It stays the same when a user logs in again.
   */
  sessionClient: string;
  user: McpUser;
  /**
   * The address of the application that verifies users after they have connected an account. If it is null, the OpenID
   * provider of the environment verifies them, if there is one.
   */
  userVerifyUrl: string | null;
  /**
   * Whether accounts and links may be created. True if the API client had the scope `accounts:write` when it requested
   * the session token, or if the access token of a user has the scope `tools:call`.
   */
  mayConnect: boolean;
  /** A subset of `MCP_SCOPES`. */
  scopes: readonly string[];
  /** Milliseconds UTC. */
  expiresAt: number;
}

/** The content of a token, or the reason for its rejection, for the log. */
export type OpenedSession = { ok: true; grant: McpGrant } | { ok: false; authFailure: AuthFailure };

/** An authenticated request to an MCP server. */
export interface McpSession {
  environment: EnvironmentRow;
  server: McpServerDefinition;
  grant: McpGrant;
  requestId: string;
  /**
   * The error of this request's tool call, if the provider rejected the call because of missing scopes. Once it is set,
   * the call is not sent again: only the link that requests these scopes is created.
   */
  scopesMissing?: ApiError | undefined;
}

/** Returns the session in the format in which the MCP SDK passes it to handlers. */
export function toAuthInfo(session: McpSession): AuthInfo {
  const { clientId, expiresAt } = session.grant;
  return { token: '', clientId, scopes: [], expiresAt: Math.floor(expiresAt / 1000), extra: { session } };
}

/** @throws Error if the request did not go through `toAuthInfo` */
export function sessionOf(auth: AuthInfo | undefined): McpSession {
  const session = auth?.extra?.['session'];
  if (!session) throw new Error('the request has no session');
  return session as McpSession;
}

/** Returns a text that identifies the environment, the server, the client and the user of a session. */
export function ownerOf({ environment, server, grant }: McpSession): string {
  const { organizationId = null, userId = null, identifier } = grant.user;
  return JSON.stringify([environment.id, server.id, grant.sessionClient, organizationId, userId, identifier]);
}
