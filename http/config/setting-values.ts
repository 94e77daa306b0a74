import { POSTGRES, PROCESSES } from '../../core/budgets.ts';
import type { LogFormat } from '../monitoring/log.ts';
import { ConfigError } from './config-error.ts';
import type { Env, Setting } from './settings.ts';

export function readPort(env: Env, name: Setting, fallback: number): number {
  const text = env[name] || String(fallback);
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) {
    throw new ConfigError(`${name} must be a port number from 0 to 65535`);
  }
  return port;
}

export function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const valid = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!valid || url.pathname !== '/')
    throw new ConfigError('BASE_URL must be an http or https origin without a path, such as https://keys.example.com');
  return url.origin;
}

export function readConnections(text: string | undefined): number {
  if (!text) return POSTGRES.writers;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new ConfigError('DATABASE_CONNECTIONS must be a number from 1 to 999');
  return Number(text);
}

export function readProcesses(text: string | undefined): number {
  if (!text) return 1;
  if (!/^[1-9]\d?$/.test(text) || Number(text) > PROCESSES.most)
    throw new ConfigError(`VALETKEY_PROCESSES must be a whole number from 1 to ${PROCESSES.most}`);
  return Number(text);
}

/** Reads a setting that is on unless it is `off`. */
export function readSwitch(env: Env, name: Setting): boolean {
  const text = env[name];
  if (text && text !== 'on' && text !== 'off') throw new ConfigError(`${name} must be on or off`);
  return text !== 'off';
}

/** Reads a number of at least 1; returns null for `off`. */
export function readLimit(env: Env, name: Setting, fallback: number, unit: string): number | null {
  const text = env[name];
  if (!text) return fallback;
  if (text === 'off') return null;
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new ConfigError(`${name} must be a whole number of ${unit}, or off`);
  return Number(text);
}

/** Reads a number of seconds. @returns milliseconds */
export function readShutdownDelay(text: string | undefined): number {
  if (!text) return 0;
  if (!/^\d{1,2}$/.test(text) || Number(text) > 60)
    throw new ConfigError('VALETKEY_SHUTDOWN_DELAY must be a whole number of seconds from 0 to 60');
  return Number(text) * 1000;
}

export function readCheckResponses(text: string | undefined): boolean {
  if (text && text !== 'all') throw new ConfigError('VALETKEY_CHECK_RESPONSES must be all, or not set');
  return text === 'all';
}

export function readLogFormat(text: string | undefined): LogFormat {
  const format = text || 'auto';
  if (format === 'auto' || format === 'json' || format === 'text') return format;
  throw new ConfigError('LOG_FORMAT must be auto, json or text');
}

export function readLogLevel(text: string | undefined): string {
  const level = text || 'info';
  if (!['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'].includes(level)) {
    throw new ConfigError('LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent');
  }
  return level;
}
