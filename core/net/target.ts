import { isIP } from 'node:net';
import { addressClass } from './address.ts';

/** The host and port to connect to, and whether to use TLS. `hostname` is as in a URL, but IPv6 has no brackets. */
export interface Target {
  tls: boolean;
  hostname: string;
  port: number;
}

export function targetOf(url: URL): Target {
  const tls = url.protocol === 'https:';
  return { tls, hostname: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || (tls ? 443 : 80)) };
}

export function originOf({ tls, hostname, port }: Target): string {
  return new URL(`${tls ? 'https' : 'http'}://${bracketed(hostname)}:${port}`).origin;
}

/** Returns a host as it is written in a URL: an IPv6 address in brackets, any other host unchanged. */
export function bracketed(hostname: string): string {
  return isIP(hostname) === 6 ? `[${hostname}]` : hostname;
}

/** Whether a name always means loopback, regardless of the resolver. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || addressClass(hostname) === 'loopback';
}
