import { statSync } from 'node:fs';
import type { Scrub } from './create-scrub.ts';
import type { Metrics } from './metrics.ts';

/** Adds the state of the storage to the metrics. */
export function showStorage(metrics: Metrics, databaseFile: string, scrub: Pick<Scrub, 'pendingMs'>): void {
  metrics.gauge(
    'valetkey_storage_scrub_pending_seconds',
    'How long deleted data have been waiting to leave the database files; 0 when there are none',
    () => scrub.pendingMs() / 1000,
  );
  metrics.gauge(
    'valetkey_storage_log_bytes',
    'Size of the write-ahead log; it grows while another process reads the database',
    () => statSync(`${databaseFile}-wal`).size,
  );
}
