import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WatchedServer } from './watched-server.ts';

/** The limits for the cost of an input. */
export const LIMITS = {
  /**
   * Processor time of the main thread while one request waits. This is the most reliable limit, because other load on
   * the machine does not increase it.
   */
  cpuMs: 50,
  /**
   * How long the main thread waits for something other than a processor. Waiting for a lock or a sync of a disk takes
   * seconds. Garbage collection waits some milliseconds for its threads, longer on a busy machine.
   */
  idleMs: 250,
  rssMiB: 64,
} as const;

export interface Reply {
  status: number;
  /** Limited to a few MiB. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: scenarios read responses of every format
  body: any;
}

export interface CallOptions {
  /** Sent as JSON, unless it is a text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** null to send no access token. */
  token?: string | null;
}

/** An account of a custom provider whose API is the counterpart. */
export interface Party {
  connector: string;
  accountId: string;
  /** Needed for MCP servers and links. */
  connectionId: string;
  key: string;
}

/** The environment of a scenario: a server that has just started, and a hostile counterpart. */
export interface Lab {
  readonly server: WatchedServer;
  /** Returns the access token of its requests. */
  token(): string;
  /** Sends a request to the server, by default with an access token that has all scopes. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Sends a request and reads only the status of the response. */
  status(method: string, path: string, options?: CallOptions): Promise<number>;
  /** Sets the handler of the counterpart for paths with this prefix. */
  on(path: string, handle: (req: IncomingMessage, res: ServerResponse) => void): void;
  /**
   * Creates a custom provider at the counterpart, with an account. @param pattern the authorization pattern, in place
   * of an API key
   */
  party(options?: { pattern?: Record<string, unknown>; path?: string; host?: string }): Promise<Party>;
  /** Runs a tool with the account. */
  execute(party: Party, tool: string, input?: object, more?: object): Promise<Reply>;
  /** A folder for files of the scenario, which is removed at the end. */
  folder: string;
}

/** One hostile input. */
export interface Scenario {
  /** The id of the reported weakness that the input reproduces, such as `H7`; `own` for other inputs. */
  id: string;
  name: string;
  /** Settings of the server. */
  env?: Record<string, string>;
  /** Fills the data directory before the server starts. */
  seed?(env: Record<string, string>): Promise<void>;
  /** Creates the objects that the input needs, and uses them once, so that first uses are not measured. */
  prepare?(lab: Lab): Promise<void>;
  /** Sends the input; returns a short description of the result. */
  play(lab: Lab): Promise<string>;
  /**
   * The memory that the documentation allows for this work, in MiB: the heap of a thread, or bodies within their
   * budget.
   */
  grantedMiB?: number;
}
