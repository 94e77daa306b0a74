import type { Refresher } from '../core/accounts/refresh.ts';
import type { ByteBudget } from '../core/budgets/byte-budget.ts';
import type { Readiness } from '../core/capabilities/service.ts';
import type { Catalogue } from '../core/connectors/catalogue.ts';
import type { ToolDirectory } from '../core/discovery/directory.ts';
import type { EventSink } from '../core/events/sink.ts';
import type { ResponseReader } from '../core/executions/response-reader.ts';
import type { IdPrefix } from '../core/ids.ts';
import type { Jobs } from '../core/jobs/jobs.ts';
import type { UpstreamSessions } from '../core/mcp/upstream/sessions.ts';
import type { SyncTurns } from '../core/mcp/upstream/sync-turns.ts';
import type { Egress } from '../core/net/egress.ts';
import type { startTimer } from '../core/scheduling/timers.ts';
import type { Threads } from '../core/threads/threads.ts';
import type { Vault } from '../core/vault/vault.ts';
import type { EnvironmentRow, Store } from '../db/store.ts';
import type { Logger } from '../http/monitoring/log.ts';
import type { Metrics } from '../http/monitoring/metrics.ts';
import type { Environment } from '../http/pipeline/environments.ts';
import type { Exchange } from '../http/pipeline/exchange.ts';

/** The parts of the server that tests replace. */
interface Replaceable extends Pick<Refresher, 'freshen' | 'ensureFresh' | 'refreshNow'> {
  // Parts that depend on no other part
  now(): number;
  random(size: number): Buffer;
  wait(ms: number): Promise<void>;
  newId(prefix: IdPrefix): string;
  startTimer: typeof startTimer;
  log: Logger;
  metrics: Metrics;
  bodies: ByteBudget;
  threads: Threads;
  // Storage and keys
  store: Store;
  scrubStorage(): void;
  vault: Vault;
  // Outbound calls and MCP servers
  egressOf(environment: EnvironmentRow): Egress;
  upstreamSessions: UpstreamSessions;
  syncTurns: SyncTurns;
  // Tools
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
  responses: ResponseReader;
  // Background work and requests
  jobs: Jobs;
  environmentOf(hostHeader: string | undefined): Environment | Promise<Environment>;
  readiness(): Promise<Readiness>;
  onResponse(exchange: Exchange, status: number): void;
}

/** A replacement that is created from the original part. */
class Wrapped<T> {
  readonly around: (made: T) => T;

  constructor(around: (made: T) => T) {
    this.around = around;
  }
}

/** Returns an override whose replacement is created from the original part. */
export function wrap<T>(around: (made: T) => T): Wrapped<T> {
  return new Wrapped(around);
}

/** Replacements for parts of the server. Every part that is created later uses the replacement. */
export type Overrides = { [Name in keyof Replaceable]?: Replaceable[Name] | Wrapped<Replaceable[Name]> } & {
  /** More sinks of events, after those of the server. */
  eventSinks?: readonly EventSink[];
};

/** Returns the override of a part; without one, the part that `make` creates. */
export type Choose = <Name extends keyof Replaceable>(name: Name, make: () => Replaceable[Name]) => Replaceable[Name];

/** Applies overrides where parts are created. */
export function choosing(overrides: Overrides): Choose {
  return (name, make) => {
    const override: unknown = overrides[name];
    if (override instanceof Wrapped) return override.around(make());
    return override === undefined ? make() : (override as ReturnType<typeof make>);
  };
}
