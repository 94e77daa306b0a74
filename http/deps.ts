import type { AccountChanges } from '../core/accounts/account-changes.ts';
import type { AuthorizationClient } from '../core/accounts/links/authorization-client.ts';
import type { LinkTools } from '../core/accounts/links/link-tools.ts';
import type { Fresh } from '../core/accounts/refresh.ts';
import type { ByteBudget } from '../core/budgets/byte-budget.ts';
import type { Catalogue } from '../core/connectors/catalogue.ts';
import type { ExecutionContentsStore } from '../core/contents/execution-contents.ts';
import type { StoredFiles } from '../core/contents/stored-files.ts';
import type { ToolDirectory } from '../core/discovery/directory.ts';
import type { Cause, Events } from '../core/events/events.ts';
import type { ResponseReader } from '../core/executions/response-reader.ts';
import type { IdPrefix } from '../core/ids.ts';
import type { Instance } from '../core/instances/instance.ts';
import type { Jobs } from '../core/jobs/jobs.ts';
import type { JobQueue } from '../core/jobs/queue.ts';
import type { UpstreamSessions } from '../core/mcp/upstream/sessions.ts';
import type { SyncTurns } from '../core/mcp/upstream/sync-turns.ts';
import type { Egress } from '../core/net/egress.ts';
import type { Verification } from '../core/tokens/access-token.ts';
import type { SigningKeys } from '../core/tokens/signing-key.ts';
import type { InputChecker } from '../core/tools/input.ts';
import type { ToolJudge } from '../core/tools/judge.ts';
import type { ToolError } from '../core/tools/outcome.ts';
import type { OwnInputChecker } from '../core/tools/own-input.ts';
import type { Digester } from '../core/vault/digest.ts';
import type { SealedTokens } from '../core/vault/sealed-token.ts';
import type { Vault } from '../core/vault/vault.ts';
import type { AccountRow, AccountSummaryRow, Store } from '../db/store.ts';
import type { Config } from './config.ts';
import type { Threads } from './create-threads.ts';
import type { Environment } from './environments.ts';
import type { Exchange } from './exchange.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';

/** What the server and its handlers work with; made once at start by createDeps, in tests with other parts. */
export interface Deps {
  readonly config: Config;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
  newId(prefix: IdPrefix): string;
  /** This process among those that serve the database. */
  readonly instance: Instance;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  /** Bodies that the process holds: of requests, of calls and of their responses. */
  readonly bodies: ByteBudget;
  /** The catalogue's tools and each environment's own. */
  readonly toolDirectory: ToolDirectory;
  /** For work on foreign data. */
  readonly threads: Threads;
  /** Reads the responses to tool calls. */
  readonly responses: ResponseReader;
  /** For tools of the catalogue. */
  readonly toolInputs: InputChecker;
  /** For tools that environments brought. */
  readonly ownInputs: OwnInputChecker;
  /** Files that tools returned, stored for an hour. */
  readonly files: StoredFiles;
  /** What executions sent and got, where an environment keeps it. */
  readonly executionContents: ExecutionContentsStore;
  /** What judges tools that clients write; made at first use. */
  readonly toolJudge: ToolJudge;
  readonly events: Events;
  /** Tells who waits for an account that it has changed. */
  readonly accountChanges: AccountChanges;
  /** The sessions of accounts at MCP servers. */
  readonly upstreamSessions: UpstreamSessions;
  readonly syncTurns: SyncTurns;
  /** Paths of the contract that carry secrets, by operation. */
  readonly secretPaths: readonly string[];
  readonly sealedTokens: SealedTokens;
  readonly sealedReplies: SealedTokens;
  readonly digester: Digester;
  readonly signingKeys: SigningKeys;
  readonly usage: {
    touch(account: AccountRow): void;
    lastUsedAt(account: AccountSummaryRow): number | null;
  };
  verifyToken(token: string, environment: Environment): Verification;
  environmentOf(hostHeader: string | undefined): Environment | Promise<Environment>;
  egressOf(environment: Environment): Egress;
  /** How persons grant access at providers. */
  readonly authorization: AuthorizationClient;
  /** Learns what is still to be learned of a provider before a person is sent to it. */
  readonly readyForConsent: LinkTools['readyForConsent'];
  readonly links: {
    /** Ends the authorization requests whose time is over. */
    expire(): Promise<void>;
    /** The same, in a moment: for requests that were closed before their time. */
    expireSoon(): void;
  };
  /** Adds work that no request waits for. */
  readonly jobQueue: JobQueue;
  /** Runs that work. */
  readonly jobs: Jobs;
  /** The account with a token that is valid now, refreshed where needed and possible. */
  freshen(account: AccountRow, cause: Cause): Promise<AccountRow>;
  /** `freshen` that also says why a token which is needed could not be had now. */
  ensureFresh(account: AccountRow, cause: Cause): Promise<Fresh>;
  /** The account after a refresh that its provider asked for, or null when there is nothing to refresh. */
  refreshNow(account: AccountRow, cause: Cause, failed?: (error: ToolError) => void): Promise<AccountRow | null>;
  /** Erases deleted data from the database file soon, many deletions together. */
  scrubStorage(): void;
  readiness(): Promise<{ database: boolean; keys: boolean }>;
  /** Whether the storage failed when it was last used. */
  isStorageFailing(): boolean;
  /** Called for every response that was written. */
  onAnswer(exchange: Exchange, status: number): void;
  close(): Promise<void>;
}
