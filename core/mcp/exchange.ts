import type { AuthInfo } from '@modelcontextprotocol/server';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { KnownSessions } from './known-sessions.ts';
import type { ListChanges } from './list-changes.ts';

/** The context of a request to an MCP server. */
export interface McpExchange {
  /** The authenticated caller. */
  auth: AuthInfo;
  /** Identifies the environment, MCP server, client and user of the request. Only the same owner can use a session. */
  owner: string;
  /** The environment; its limits apply to all of its users together. */
  environmentId: string;
  parsedBody?: unknown;
  /** Registers a listener that is called when the response is complete or the client has disconnected. */
  onEnd(listener: () => void): void;
  /** Ends the response. */
  end(): void;
}

export interface McpEndpointOptions {
  sealed: SealedTokens;
  known: KnownSessions;
  /** Watches lists for clients with an open stream. If it is absent, clients are not notified of changes. */
  changes?: Pick<ListChanges, 'watch'> | undefined;
  /** Milliseconds UTC. */
  now(): number;
  /** Receives rejected requests and failures, to log them. */
  onError(error: Error): void;
}
