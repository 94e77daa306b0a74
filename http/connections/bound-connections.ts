import type { Server } from 'node:http';
import type { SERVER } from '../../core/budgets.ts';
import { parseTrustedProxies } from '../../core/net/client-address.ts';
import { type Config, readSetting } from '../config/config.ts';
import type { Logger } from '../monitoring/log.ts';
import type { Metrics } from '../monitoring/metrics.ts';
import { capPerAddress } from './address-cap.ts';
import { watchConnections } from './connection-watch.ts';

interface BoundDeps {
  readonly config: Pick<Config, 'trustedProxies' | 'connectionsPerAddress'>;
  readonly metrics: Pick<Metrics, 'gauge'>;
  readonly log: Pick<Logger, 'error'>;
}

type Limits = Record<keyof typeof SERVER, number>;

/**
 * Limits the connections of a server: how many a client address may have open, and how long a client may send nothing
 * or read nothing. Adds the numbers of open and rejected connections to the metrics.
 *
 * @throws ConfigError if VALETKEY_TRUSTED_PROXIES is invalid
 */
export function boundConnections(server: Server, { config, metrics, log }: BoundDeps, limits: Limits): void {
  const isTrusted = readSetting(() => parseTrustedProxies(config.trustedProxies));
  const perAddress = config.connectionsPerAddress ?? Number.POSITIVE_INFINITY;
  const cap = capPerAddress(server, perAddress, isTrusted);
  const watch = watchConnections(server, limits, (err) => log.error({ err }, 'connections could not be examined'));
  metrics.gauge('valetkey_http_connections', 'Connections of clients that are open', () => watch.open);
  metrics.gauge('valetkey_http_queued_bytes', 'Bytes of responses that wait for clients', () => watch.queuedBytes);
  metrics.gauge(
    'valetkey_http_connections_refused',
    'Connections refused since the start because their client address had too many',
    () => cap.refused,
  );
}
