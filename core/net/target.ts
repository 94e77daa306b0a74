import { isIP } from 'node:net';
import { addressClass } from './address.ts';

/** What a socket is opened to. `hostname` is as in a URL, without the brackets of IPv6. */
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

/** The host as a URL writes it. */
export function bracketed(hostname: string): string {
  return isIP(hostname) === 6 ? `[${hostname}]` : hostname;
}

/** Loopback by its very name, so that no resolver is needed to know. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || addressClass(hostname) === 'loopback';
}
