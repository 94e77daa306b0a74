import type { Scrub } from '../core/retention/scrub.ts';
import type { Store } from '../db/store.ts';
import type { Runtime } from './runtime.ts';

type Shown = Pick<Runtime, 'metrics'> & { store: Store; scrub: Pick<Scrub, 'pendingMs'> };

/** Adds the state of the storage to the metrics. */
export function showStorage({ metrics, store, scrub }: Shown): void {
  metrics.gauge(
    'valetkey_storage_healthy',
    '1 while the database can be read and the last writes worked, else 0',
    async () => Number(await store.healthy()),
  );
  metrics.gauge(
    'valetkey_storage_scrub_pending_seconds',
    'How long deleted data has been waiting to be removed from the database files; 0 if there is none',
    () => scrub.pendingMs() / 1000,
  );
  metrics.gauge(
    'valetkey_storage_log_bytes',
    'Size of the write-ahead log; it grows while another process reads the database',
    () => store.logBytes(),
  );
  metrics.gauges('valetkey_accounts', 'Accounts by status', ['status'], async () =>
    (await store.read.accounts.countByStatus()).map(({ status, total: value }) => ({ labels: { status }, value })),
  );
  metrics.gauges(
    'valetkey_database_info',
    'Always 1; the labels are the kind of database and the role of its server (primary, standby, unknown)',
    ['engine', 'role'],
    async () => {
      const { engine, role } = await store.state();
      return [{ labels: { engine, role: role ?? 'unknown' }, value: 1 }];
    },
  );
  metrics.gauges(
    'valetkey_database_replica_lag_seconds',
    'How far the replica for lists is behind, and whether it is used; absent without a replica or while it is unreachable',
    ['used'],
    async () => {
      const { replica } = await store.state();
      if (!replica || replica.lagMs === null) return [];
      return [{ labels: { used: String(replica.isUsed) }, value: replica.lagMs / 1000 }];
    },
  );
  metrics.gauges(
    'valetkey_database_standby_lag_bytes',
    'The log that each standby of the database has not applied yet; absent if the role may not read it',
    ['standby'],
    async () =>
      (await store.state()).standbys.map(({ name, lagBytes }) => ({ labels: { standby: name }, value: lagBytes })),
  );
}
