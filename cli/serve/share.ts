import { POSTGRES } from '../../core/budgets.ts';
import type { Config } from '../../http/config/config.ts';

/**
 * Returns the settings of one of the processes of a server: its share of the connections to the database and of the
 * webhook deliveries. The parent serves the metrics.
 *
 * @param place the number of the process, from 1
 */
export function shareOf(config: Config, place: number): Config {
  const part = (total: number) => partOf(total, config.processes, place);
  const { writers = POSTGRES.writers, readers = POSTGRES.readers } = config.connections;
  return {
    ...config,
    place,
    connections: { ...config.connections, writers: part(writers), readers: part(readers) },
    webhookRate: config.webhookRate === null ? null : part(config.webhookRate),
    metricsPort: 0,
    // The process sends its log to the parent as JSON lines, and the parent writes them in the configured format.
    // Without the parent, lines of several processes would be mixed up.
    logFormat: 'json',
  };
}

/** Returns a part of a total; the first parts are larger by one if it cannot be divided equally. At least 1. */
function partOf(total: number, parts: number, place: number): number {
  return Math.max(1, Math.floor((total + parts - place) / parts));
}
