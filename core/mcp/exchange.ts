import type { AuthInfo } from '@modelcontextprotocol/server';
import type { SealedTokens } from '../vault/sealed-token.ts';

/** What is known of a request beside its own text. */
export interface McpExchange {
  /** Who asks, already verified. */
  auth: AuthInfo;
  /** The user and the server that a session belongs to; requests of anyone else do not reach it. */
  owner: string;
  /** The environment, which shares its bounds among its users. */
  environmentId: string;
  parsedBody?: unknown;
  /** Calls the listener once the response is complete or the client has gone. */
  onEnd(listener: () => void): void;
}

export interface McpEndpointOptions {
  sealed: SealedTokens;
  /** Milliseconds UTC. */
  now(): number;
  /** Receives refused requests and failures, for the log. */
  onError(error: Error): void;
}
