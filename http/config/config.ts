import { join } from 'node:path';
import { SERVER, WEBHOOKS } from '../../core/budgets.ts';
import { parseTrustedProxies } from '../../core/net/client-address.ts';
import { Secret } from '../../core/secret.ts';
import type { ConnectionOptions } from '../../db/store.ts';
import { parseContacts, parsePolicy, type SecurityContact } from '../documents/security-text.ts';
import type { LogFormat } from '../monitoring/log.ts';
import { type CompanyLoginSettings, parseCompanyLogin } from './company-login.ts';
import { ConfigError } from './config-error.ts';
import { isServer, type Paths, readPaths } from './paths.ts';
import {
  readBaseUrl,
  readCheckResponses,
  readConnections,
  readLimit,
  readLogFormat,
  readLogLevel,
  readPort,
  readProcesses,
  readShutdownDelay,
  readSwitch,
} from './setting-values.ts';
import type { Env, Setting } from './settings.ts';
import { readTelemetry, type TelemetryConfig } from './telemetry.ts';

/** The configuration, without secrets. */
export interface Config extends SecurityContact, Paths {
  host: string;
  port: number;
  /** The origin at which clients reach the first environment, without a trailing slash. */
  baseUrl: string;
  /** The settings of connections to a database server. */
  connections: ConnectionOptions;
  /** The number of processes of this server, which share its port. */
  processes: number;
  /** The number of this process, from 1; null if the server has only one process. */
  place: number | null;
  /** Address and port of the metrics listener; port 0 turns it off. */
  metricsHost: string;
  metricsPort: number;
  /** The maximum number of requests per second of one client; null for no limit. */
  rateLimit: number | null;
  /** The maximum number of webhook deliveries that start per second; null for no limit. */
  webhookRate: number | null;
  /** The maximum number of open connections of one client address; null for no limit. */
  connectionsPerAddress: number | null;
  /** The raw setting `VALETKEY_TRUSTED_PROXIES`; core/net parses it. */
  trustedProxies: string;
  /** Whether the server has the console for operators. */
  console: boolean;
  /** How operators log in at the OpenID provider of their company; null if they use one-time addresses only. */
  companyLogin: CompanyLoginSettings | null;
  logLevel: string;
  logFormat: LogFormat;
  /** The raw settings `VALETKEY_EGRESS_ALLOW` and `VALETKEY_ENDPOINT_OVERRIDES`; core/net parses them. */
  egressAllow: string;
  endpointOverrides: string;
  /** How long the server continues to work when it is asked to stop, while `/readyz` reports that it is not ready. */
  shutdownDelayMs: number;
  /** Which signals are sent to an OpenTelemetry collector; null if none are sent. */
  telemetry: TelemetryConfig | null;
  /** Whether every response is checked against the contract; otherwise only responses that carry credentials are. */
  checkAllResponses: boolean;
}

/** The configuration that must never be printed. */
export interface Secrets {
  /** The address of a database server, which may contain a password; null for a database file. */
  databaseUrl: Secret | null;
  /** The address of a standby database from which lists are read; null to read lists from the primary. */
  replicaUrl: Secret | null;
  /**
   * The address of PostgreSQL without a connection pool in front of it. It is used for notifications of changed
   * settings, which pools do not forward. null if `databaseUrl` leads to PostgreSQL directly.
   */
  listenUrl: Secret | null;
  keys: Secret | null;
  /** The client secret of the login of operators; null for a public client. */
  companyLogin: Secret | null;
  firstClient: { id: string; secret: Secret } | null;
}

/** Parses a raw setting with the given function. @throws ConfigError with the message of that function */
export function readSetting<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/**
 * Reads the settings from environment variables. An empty variable counts as absent.
 *
 * @throws ConfigError naming the variable
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): { config: Config; secrets: Secrets } {
  const port = readPort(env, 'PORT', 8080);
  const config: Config = {
    host: env['HOST'] || '127.0.0.1',
    port,
    baseUrl: readBaseUrl(env['BASE_URL'] || `http://localhost:${port}`),
    ...readPaths(env),
    connections: {
      writers: readConnections(env['DATABASE_CONNECTIONS']),
      prepare: readSwitch(env, 'DATABASE_PREPARE'),
    },
    processes: readProcesses(env['VALETKEY_PROCESSES']),
    place: null,
    metricsHost: env['METRICS_HOST'] || '127.0.0.1',
    metricsPort: readPort(env, 'METRICS_PORT', port === 0 ? 0 : port + 1),
    rateLimit: readLimit(env, 'VALETKEY_RATE_LIMIT', 100, 'requests per second'),
    webhookRate: readLimit(env, 'VALETKEY_WEBHOOK_RATE', WEBHOOKS.perSecond, 'deliveries per second'),
    connectionsPerAddress: readLimit(
      env,
      'VALETKEY_CONNECTIONS_PER_ADDRESS',
      SERVER.connectionsPerAddress,
      'connections',
    ),
    trustedProxies: readTrustedProxies(env['VALETKEY_TRUSTED_PROXIES'] || ''),
    console: readSwitch(env, 'VALETKEY_CONSOLE'),
    companyLogin: readSetting(() => parseCompanyLogin(env)),
    logLevel: readLogLevel(env['LOG_LEVEL']),
    logFormat: readLogFormat(env['LOG_FORMAT']),
    securityContacts: readSetting(() => parseContacts(env['VALETKEY_SECURITY_CONTACT'] ?? '')),
    securityPolicy: readSetting(() => parsePolicy(env['VALETKEY_SECURITY_POLICY'] ?? '')),
    egressAllow: env['VALETKEY_EGRESS_ALLOW'] || '',
    endpointOverrides: env['VALETKEY_ENDPOINT_OVERRIDES'] || '',
    shutdownDelayMs: readShutdownDelay(env['VALETKEY_SHUTDOWN_DELAY']),
    telemetry: readSetting(() => readTelemetry(env)),
    checkAllResponses: readCheckResponses(env['VALETKEY_CHECK_RESPONSES']),
  };
  if (config.securityPolicy !== null && config.securityContacts.length === 0)
    throw new ConfigError('VALETKEY_SECURITY_POLICY needs VALETKEY_SECURITY_CONTACT');
  return { config, secrets: readSecrets(env) };
}

/** Checks the setting before ports and the database are opened. @returns the raw setting */
function readTrustedProxies(text: string): string {
  readSetting(() => parseTrustedProxies(text));
  return text;
}

/** Returns the location of the database, which also selects the engine. */
export function databaseLocation(config: Pick<Config, 'databaseFile'>, secrets: Pick<Secrets, 'databaseUrl'>): string {
  return secrets.databaseUrl?.reveal() ?? config.databaseFile;
}

/** Returns the location of the database for the log: without the user, the password and the parameters of a server. */
export function databaseName(config: Pick<Config, 'databaseFile'>, secrets: Pick<Secrets, 'databaseUrl'>): string {
  return databaseLocation(config, secrets).replace(/^(postgres(?:ql)?:\/\/)(?:.*@)?([^?#]*).*$/s, '$1$2');
}

/** Returns the directory of the audit archive. */
export function auditDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'audit-archive');
}

function readSecrets(env: Env): Secrets {
  const id = env['VALETKEY_CLIENT_ID'];
  const secret = env['VALETKEY_CLIENT_SECRET'];
  if (Boolean(id) !== Boolean(secret)) {
    throw new ConfigError('VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET must be set together');
  }
  if (id && !/^[\x21-\x7e]{1,100}$/.test(id)) {
    throw new ConfigError('VALETKEY_CLIENT_ID must be 1 to 100 visible ASCII characters');
  }
  if (secret && !/^[\x20-\x7e]{24,512}$/.test(secret)) {
    throw new ConfigError('VALETKEY_CLIENT_SECRET must be 24 to 512 printable ASCII characters');
  }
  const url = env['DATABASE_URL'] || '';
  const furtherUrl = (name: Setting): Secret | null => {
    const further = env[name] || '';
    if (further && !(isServer(further) && isServer(url))) {
      throw new ConfigError(`${name} must be postgres://…, and requires a DATABASE_URL of that form`);
    }
    return further ? new Secret(further) : null;
  };
  return {
    databaseUrl: isServer(url) ? new Secret(url) : null,
    replicaUrl: furtherUrl('DATABASE_REPLICA_URL'),
    listenUrl: furtherUrl('DATABASE_LISTEN_URL'),
    companyLogin: env['VALETKEY_CONSOLE_OIDC_CLIENT_SECRET']
      ? new Secret(env['VALETKEY_CONSOLE_OIDC_CLIENT_SECRET'])
      : null,
    keys: env['VALETKEY_KEYS'] ? new Secret(env['VALETKEY_KEYS']) : null,
    firstClient: id && secret ? { id, secret: new Secret(secret) } : null,
  };
}
