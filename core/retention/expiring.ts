import type { EnvironmentRow, Repositories } from '../../db/store.ts';
import { LIFETIME, MCP_LOGIN, RETENTION } from '../budgets.ts';
import { retentionMs } from '../contents/execution-contents.ts';
import { hourOf } from '../statistics.ts';

/** A kind of row that is stored for a limited time. */
export interface Expiring {
  name: string;
  /** Deletes some of the expired rows, the oldest first. @returns how many; 0 if none is left */
  removeSome(tx: Repositories, environment: EnvironmentRow, now: number): Promise<number>;
}

const { rows: ROWS } = RETENTION;

/**
 * All kinds of rows that are deleted after some time; of failed jobs, the payloads are deleted earlier. Audit records
 * are deleted only after they were archived.
 */
export const EXPIRING: readonly Expiring[] = [
  { name: 'idempotency keys', removeSome: (tx, { id }, now) => tx.idempotencyKeys.sweep(id, now, RETENTION) },
  { name: 'stored contents', removeSome: (tx, { id }, now) => tx.storedContents.sweep(id, now, RETENTION) },
  {
    // Contents have an expiry, but the retention setting may have been shortened since they were stored.
    name: 'contents of executions',
    removeSome: (tx, { id, settings }, now) =>
      tx.storedContents.sweepStoredBefore(id, 'execution', now - retentionMs(settings), RETENTION),
  },
  {
    name: 'executions',
    removeSome: (tx, { id, settings }, now) => tx.executions.sweep(id, now - retentionMs(settings), ROWS),
  },
  {
    name: 'statistics of executions',
    removeSome: (tx, { id }, now) => tx.executionStatistics.sweep(id, hourOf(now - LIFETIME.statisticsMs)),
  },
  {
    name: 'statistics of refreshes',
    removeSome: (tx, { id }, now) => tx.refreshStatistics.sweep(id, hourOf(now - LIFETIME.statisticsMs)),
  },
  { name: 'jobs', removeSome: (tx, { id }, now) => tx.jobs.purge(id, now - LIFETIME.endedJobsMs, ROWS) },
  {
    name: 'payloads of failed jobs',
    removeSome: (tx, { id }, now) => tx.jobs.wipe(id, now - LIFETIME.failedJobPayloadMs, ROWS),
  },
  { name: 'audit records', removeSome: (tx, { id }) => tx.audit.removeArchived(id, ROWS) },
  { name: 'events', removeSome: (tx, { id }, now) => tx.events.sweep(id, now - LIFETIME.eventsMs, ROWS) },
  {
    name: 'webhook deliveries',
    removeSome: (tx, { id }, now) => tx.webhookDeliveries.sweep(id, now - LIFETIME.eventsMs, ROWS),
  },
  { name: 'consent flows', removeSome: (tx, { id }, now) => tx.authFlows.sweep(id, now, ROWS) },
  { name: 'portal sessions', removeSome: (tx, { id }, now) => tx.portalSessions.sweep(id, now, ROWS) },
  { name: 'logins of MCP clients', removeSome: (tx, { id }, now) => tx.oauthLogins.sweep(id, now, ROWS) },
  { name: 'operator sessions', removeSome: (tx, { id }, now) => tx.operatorSessions.sweep(id, now, ROWS) },
  { name: 'grants of MCP clients', removeSome: (tx, { id }, now) => tx.oauthGrants.sweep(id, now, ROWS) },
  {
    name: 'unused MCP clients',
    removeSome: (tx, { id }, now) => tx.oauthClients.sweepUnused(id, now - MCP_LOGIN.unusedClientMs, ROWS),
  },
  { name: 'links', removeSome: (tx, { id }, now) => tx.authRequests.purge(id, now - LIFETIME.endedLinkMs, ROWS) },
];
