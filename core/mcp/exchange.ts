import type { AuthInfo } from '@modelcontextprotocol/server';

/** What is known of a request beside its own text. */
export interface McpExchange {
  /** Who asks, already verified. */
  auth: AuthInfo;
  /** The session belongs to whoever this names; nobody else can go on with it. */
  owner: string;
  parsedBody?: unknown;
}

export interface McpEndpointOptions {
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** Told of what was refused or failed; never changes an answer. */
  onError(error: Error): void;
}
