import { requireReadable } from './paths.ts';

/**
 * Which signals (traces, metrics, logs) are sent to an OpenTelemetry collector. The endpoint, headers, timeouts,
 * compression and certificates are not part of it: the exporters of OpenTelemetry read them from the environment
 * variables `OTEL_EXPORTER_OTLP_*` themselves.
 */
export interface TelemetryConfig {
  traces: boolean;
  metrics: boolean;
  logs: boolean;
  /** The share of new traces that is recorded, from 0 to 1. A caller's trace is recorded if the caller records it. */
  sampledShare: number;
  /** Time between two exports of the metrics, in milliseconds. */
  metricIntervalMs: number;
}

type Env = Readonly<Record<string, string | undefined>>;

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const FILES = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'];
const PER_SIGNAL = ['ENDPOINT', 'HEADERS', 'TIMEOUT', 'COMPRESSION', ...FILES];
const SIGNALS = ['', 'TRACES_', 'METRICS_', 'LOGS_'];
/** The variables of OpenTelemetry that have an effect. */
const SUPPORTED = new Set([
  ...['OTEL_SDK_DISABLED', 'OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES', 'OTEL_METRIC_EXPORT_INTERVAL'],
  ...['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER', 'OTEL_LOGS_EXPORTER'],
  ...['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  ...namesOf(PER_SIGNAL),
]);
const SAMPLERS: Readonly<Record<string, (argument: number) => number>> = {
  parentbased_always_on: () => 1,
  parentbased_always_off: () => 0,
  parentbased_traceidratio: (argument) => argument,
};

/**
 * Reads the variables of OpenTelemetry.
 *
 * @returns null if nothing is sent: OTEL_EXPORTER_OTLP_ENDPOINT is not set, OTEL_SDK_DISABLED is true, or every
 * exporter is `none`
 * @throws Error that names the variable
 */
export function readTelemetry(env: Env): TelemetryConfig | null {
  const endpoint = env[ENDPOINT];
  if (!endpoint || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new Error(`${ENDPOINT} must be an http or https URL`);
  const protocol = env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/json';
  if (protocol !== 'http/json')
    throw new Error('OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, which every collector accepts');
  const config = {
    traces: isSent(env, 'OTEL_TRACES_EXPORTER'),
    metrics: isSent(env, 'OTEL_METRICS_EXPORTER'),
    logs: isSent(env, 'OTEL_LOGS_EXPORTER'),
    sampledShare: readShare(env),
    metricIntervalMs: readInterval(env),
  };
  if (!config.traces && !config.metrics && !config.logs) return null;
  // The exporters ignore a certificate or key file that they cannot read, and send without it. So it is an error here.
  for (const name of namesOf(FILES)) if (env[name]) requireReadable(name, env[name]);
  return config;
}

function namesOf(ends: readonly string[]): string[] {
  return SIGNALS.flatMap((signal) => ends.map((end) => `OTEL_EXPORTER_OTLP_${signal}${end}`));
}

/** Returns one sentence for each variable of OpenTelemetry that is set and has no effect. */
export function unsupportedTelemetry(env: Env): string[] {
  const names = Object.keys(env).filter((name) => name.startsWith('OTEL_') && env[name] !== '');
  const unsupported = names.filter((name) => !SUPPORTED.has(name)).sort();
  if (!env[ENDPOINT] && names.some((name) => SUPPORTED.has(name) && name !== 'OTEL_SDK_DISABLED')) {
    unsupported.unshift(ENDPOINT);
  }
  return unsupported.map((name) =>
    name === ENDPOINT
      ? `${ENDPOINT} is not set, so the other variables of OpenTelemetry have no effect`
      : `${name} is not supported and has no effect`,
  );
}

function isSent(env: Env, name: string): boolean {
  const exporter = env[name] || 'otlp';
  if (!['otlp', 'none'].includes(exporter)) throw new Error(`${name} must be otlp or none`);
  return exporter === 'otlp';
}

function readShare(env: Env): number {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const share = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (!share) throw new Error(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(SAMPLERS).join(', ')}`);
  const argument = Number(env['OTEL_TRACES_SAMPLER_ARG'] || '1');
  if (!(argument >= 0 && argument <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return share(argument);
}

function readInterval(env: Env): number {
  const ms = Number(env['OTEL_METRIC_EXPORT_INTERVAL'] || '60000');
  if (!Number.isInteger(ms) || ms < 1_000 || ms > 3_600_000) {
    throw new Error('OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds from 1000 to 3600000');
  }
  return ms;
}
