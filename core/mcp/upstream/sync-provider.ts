import type { AccountRow, EnvironmentRow, Store, Transaction } from '../../../db/store.ts';
import type { Cause, Events } from '../../events/events.ts';
import type { Scrubber } from '../../net/redact.ts';
import type { ThreadPool } from '../../threads/pool.ts';
import type { ToolError } from '../../tools/outcome.ts';
import { type Candidates, convertPage } from './convert-page.ts';
import { readUpstreamTools } from './read-tools.ts';
import type { ListedPage } from './results.ts';
import type { StoreDeps, SyncReport } from './sync.ts';
import { storeUpstreamTools } from './sync.ts';
import type { SyncTurns } from './sync-turns.ts';
import type { UseAccountDeps } from './use-account.ts';

export interface SyncDeps extends UseAccountDeps, StoreDeps {
  store: Pick<Store, 'read' | 'write'>;
  syncTurns: SyncTurns;
  events: Events;
  threads: { short: Pick<ThreadPool, 'run'> };
}

/** Which provider's tools are read, and with which account. */
export interface SyncOrder {
  environment: EnvironmentRow;
  connector: string;
  account: AccountRow;
  /** Whether to accept changes of known tools instead of flagging them. */
  accept: boolean;
}

export type Synced<T> = { ok: true; value: T } | { ok: false; error: ToolError };

/**
 * Reads the tools of an MCP server and stores them as tools of its provider. This process reads one server at a time
 * and converts the list page by page. If reading fails, nothing is stored and the error is returned.
 *
 * @param stored is called in the transaction that stores the tools; its result is returned
 * @throws ApiError ACCOUNT_NOT_ACTIVE; RATE_LIMITED or SERVER_BUSY if too many servers are waiting to be read, or too
 * much work waits for a thread; and the errors of `stored`, after which nothing is stored
 */
export function syncProvider<T>(
  deps: SyncDeps,
  { environment, connector, account, accept }: SyncOrder,
  cause: Cause,
  stored: (report: SyncReport) => Promise<T>,
): Promise<Synced<T>> {
  return deps.syncTurns.run(environment.id, async (signal): Promise<Synced<T>> => {
    const candidates: Candidates = { tools: [], leftOut: [], listed: 0 };
    const context = { threads: deps.threads.short, environmentId: environment.id, connector };
    const take = (page: ListedPage, scrub: Scrubber) => convertPage({ ...context, scrub }, page, candidates);
    const outcome = await readUpstreamTools(deps, environment, account, cause, take, signal);
    if (!outcome.ok) return outcome;
    const value = await deps.store.write(async (tx) => {
      const report = await storeUpstreamTools(tx, deps, environment.id, connector, candidates, accept);
      await emitChanges(tx, deps.events, connector, report, cause);
      return stored(report);
    });
    return { ok: true, value };
  });
}

/** The event contains only names, because the texts of the tools come from the server. */
async function emitChanges(
  tx: Transaction,
  events: Events,
  connector: string,
  { added, accepted, flagged, removed }: SyncReport,
  cause: Cause,
): Promise<void> {
  if (added.length + accepted.length + flagged.length + removed.length === 0) return;
  await events.emit(tx, cause, {
    type: 'tools.changed',
    subject: connector,
    details: { added, accepted, flagged, removed },
    data: () => ({ connector }),
  });
}
