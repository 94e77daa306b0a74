import { isIP } from 'node:net';
import { addressClass } from './address.ts';
import { bracketed, isLoopbackHost, type Target, targetOf } from './target.ts';

/** A host name or IP address (IPv6 with or without brackets) and a TCP port. */
export interface HostPort {
  host: string;
  port: number;
}

/** Calls to `origin` (https) are sent to `target` (plain http on loopback) instead, with the same path and query. */
export interface EndpointOverride {
  origin: string;
  target: string;
}

/**
 * Reads the setting VALETKEY_EGRESS_ALLOW.
 *
 * @param text comma-separated `host:port` entries, IPv6 in brackets; empty for none
 * @throws Error naming the first invalid entry
 */
export function parseEgressAllow(text: string): HostPort[] {
  return entriesOf(text).map((entry) => {
    const [, host, port] = /^(\[[^\]]*\]|[^:[\]]+):(\d{1,5})$/.exec(entry) ?? [];
    if (host === undefined) throw new Error(`VALETKEY_EGRESS_ALLOW: "${entry}" must have the form host:port`);
    const read = readHostPort({ host, port: Number(port) });
    return { host: read.hostname, port: read.port };
  });
}

/**
 * Reads the setting VALETKEY_ENDPOINT_OVERRIDES.
 *
 * @param text comma-separated `https://origin=http://loopback:port` entries; empty for none
 * @throws Error naming the first invalid entry
 */
export function parseEndpointOverrides(text: string): EndpointOverride[] {
  const overrides = entriesOf(text).map((entry) => {
    const [origin = '', target = '', ...rest] = entry.split('=').map((part) => part.trim());
    if (target === '' || rest.length > 0) {
      throw new Error(
        `VALETKEY_ENDPOINT_OVERRIDES: "${entry}" must have the form https://origin=http://127.0.0.1:port`,
      );
    }
    return { origin: readOverriddenOrigin(origin), target: readOverrideTarget(target).origin };
  });
  const origins = overrides.map(({ origin }) => origin);
  const twice = origins.find((origin, index) => origins.indexOf(origin) !== index);
  if (twice !== undefined) throw new Error(`VALETKEY_ENDPOINT_OVERRIDES: ${twice} is listed twice`);
  return overrides;
}

/**
 * Checks an allowed host and port, and returns the host as URLs write it (IPv6 without brackets).
 *
 * @throws Error naming the invalid entry
 */
export function readHostPort({ host, port }: HostPort): Omit<Target, 'tls'> {
  const url = URL.parse(`https://${bracketed(host)}:${port}`);
  if (url === null || !isBareOrigin(url) || port === 0 || host.includes('*')) {
    throw new Error(`VALETKEY_EGRESS_ALLOW: "${host}:${port}" must be one host and port, such as api.example.com:8443`);
  }
  const { hostname } = targetOf(url);
  if (isIP(hostname) !== 0 && addressClass(hostname) !== 'public' && !isLoopbackHost(hostname)) {
    throw new Error(`VALETKEY_EGRESS_ALLOW: "${host}:${port}" is neither a loopback nor a public address`);
  }
  return { hostname, port };
}

export function readOverriddenOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || !isBareOrigin(url)) {
    throw new Error(`VALETKEY_ENDPOINT_OVERRIDES: "${text}" is not an https origin such as https://api.example.com`);
  }
  return url.origin;
}

export function readOverrideTarget(text: string): URL {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || !isBareOrigin(url) || !isLoopbackHost(targetOf(url).hostname)) {
    throw new Error(`VALETKEY_ENDPOINT_OVERRIDES: "${text}" is not a loopback address such as http://127.0.0.1:4001`);
  }
  return url;
}

function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function isBareOrigin(url: URL): boolean {
  return url.href === `${url.origin}/`;
}
