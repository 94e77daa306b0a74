import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WatchedServer } from './watched-server.ts';

/** What an input may cost, beyond which it fails. */
export const BARS = {
  /** Processor time of the main thread while one request waits. A busy machine does not add to it, so it is the time that is judged. */
  cpuMs: 50,
  /**
   * The main thread waits for something other than a processor. A lock or a sync of a disk takes seconds; garbage collection waits some milliseconds for its threads, longer on a busy machine.
   */
  idleMs: 250,
  rssMiB: 64,
} as const;

export interface Reply {
  status: number;
  /** At most a few MiB are kept of it. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into replies of every shape
  body: any;
}

export interface CallOptions {
  /** Sent as JSON unless it is a text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** null: no access token. */
  token?: string | null;
}

/** An account of a custom provider whose API is the counterpart. */
export interface Party {
  connector: string;
  accountId: string;
  /** For MCP servers and links. */
  connectionId: string;
  key: string;
}

/** What a scenario works with: a server that has just started, and a hostile counterpart. */
export interface Lab {
  readonly server: WatchedServer;
  /** Sends a request to the server, with all scopes. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Sends a request and reads nothing of the reply but its status. */
  status(method: string, path: string, options?: CallOptions): Promise<number>;
  /** The counterpart handles requests whose path begins so. */
  on(path: string, handle: (req: IncomingMessage, res: ServerResponse) => void): void;
  /** A custom provider at the counterpart, with an account. @param pattern of its authentication, instead of an API key */
  party(options?: { pattern?: Record<string, unknown>; path?: string; host?: string }): Promise<Party>;
  /** Runs a tool of the account. */
  execute(party: Party, tool: string, input?: object, more?: object): Promise<Reply>;
  /** Makes a file with bytes that a scenario needs; removed at the end. */
  folder: string;
}

/** One hostile input. */
export interface Scenario {
  /** The finding, or `own`. */
  id: string;
  name: string;
  /** Settings of the server. */
  env?: Record<string, string>;
  /** Fills the data directory before the server starts. */
  seed?(env: Record<string, string>): Promise<void>;
  /** What is there before; also what must have been used once, so that first uses are not measured. */
  prepare?(lab: Lab): Promise<void>;
  /** Plays the input; returns what came of it in a few words. */
  play(lab: Lab): Promise<string>;
  /** Memory that the documentation grants to this work, in MiB: the heap of a thread, bodies within their budget. */
  grantedMiB?: number;
}
