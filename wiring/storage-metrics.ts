import type { Scrub } from '../core/retention/scrub.ts';
import type { Store } from '../db/store.ts';
import type { Surroundings } from './surroundings.ts';

type Shown = Pick<Surroundings, 'metrics'> & { store: Store; scrub: Pick<Scrub, 'pendingMs'> };

/** Adds the state of the storage to the metrics. */
export function showStorage({ metrics, store, scrub }: Shown): void {
  metrics.gauge(
    'valetkey_storage_healthy',
    '1 while the database can be read and the last writes worked, else 0',
    async () => Number(await store.healthy()),
  );
  metrics.gauge(
    'valetkey_storage_scrub_pending_seconds',
    'How long deleted data have been waiting to leave the database files; 0 when there are none',
    () => scrub.pendingMs() / 1000,
  );
  metrics.gauge(
    'valetkey_storage_log_bytes',
    'Size of the write-ahead log; it grows while another process reads the database',
    () => store.logBytes(),
  );
}
