import { isSecureAddress } from '../connectors/secure-address.ts';
import { isRecord } from '../tools/pointer.ts';
import type { Operation } from './operations.ts';

type Data = Record<string, unknown>;

/**
 * The base address of a provider. Operations may have different servers, so each operation has a path prefix that
 * follows the base address.
 */
export interface Servers {
  /** Absolute, https (or http on this machine), without a trailing slash; undefined if the document names none. */
  baseUrl?: string;
  /** The path between the base address and the operation's path; undefined if the operation is on another host. */
  prefixOf(operation: Operation): string | undefined;
  warnings: string[];
}

interface Address {
  /** Empty for a relative address. */
  origin: string;
  path: string;
}

/**
 * Finds the base address of a document: the origin that most of its operations share, and the path prefix that these
 * operations have in common. Variables are replaced by their defaults, because a caller must never choose the host.
 */
export function readServers(document: Data, operations: readonly Operation[]): Servers {
  const warnings = new Set<string>();
  const addresses = new Map(operations.map((operation) => [operation, addressOf(document, operation, warnings)]));
  const origin = mostCommon([...addresses.values()].map((address) => address.origin));
  const paths = [...addresses.values()]
    .filter((address) => address.origin === origin)
    .map(({ path }) => path.split('/'));
  const shared = paths.reduce((common, path) => common.slice(0, firstDifference(common, path)), paths[0] ?? ['']);
  const base = shared.join('/');
  if (origin === '') warnings.add('The document has no absolute server URL: the base URL is required.');
  const isSecure = origin === '' || isSecureAddress(new URL(origin));
  if (!isSecure) warnings.add(`The document uses ${origin} without TLS; https is used.`);
  return {
    ...(origin !== '' && { baseUrl: (isSecure ? origin : origin.replace(/^http:/, 'https:')) + base }),
    prefixOf: (operation) => {
      const address = addresses.get(operation) ?? { origin, path: base };
      return address.origin === origin ? address.path.slice(base.length) : undefined;
    },
    warnings: [...warnings],
  };
}

function addressOf(document: Data, { data, item }: Operation, warnings: Set<string>): Address {
  for (const holder of [data, item, document]) {
    const servers = Array.isArray(holder['servers']) ? holder['servers'].filter(isRecord) : [];
    const [first] = servers;
    if (first) return readServer(first, warnings);
  }
  return { origin: '', path: '' };
}

function readServer(server: Data, warnings: Set<string>): Address {
  const variables = isRecord(server['variables']) ? server['variables'] : {};
  const written = String(server['url'] ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = isRecord(variables[name]) ? variables[name] : {};
    const [allowed] = Array.isArray(variable['enum']) ? variable['enum'] : [];
    const value = String(variable['default'] ?? allowed ?? '');
    warnings.add(
      `The server variable ${name.slice(0, 60)} is set to ${JSON.stringify(value.slice(0, 100))} in the base URL.`,
    );
    return value;
  });
  const absolute = written.startsWith('//') ? `https:${written}` : written;
  const url = URL.parse(absolute);
  const path = (pathname: string) => pathname.replace(/\/+$/, '').replace(/\/{2,}/g, '/');
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== '')
    return { origin: url.origin, path: path(url.pathname) };
  const relative = URL.parse(absolute, 'https://relative.invalid');
  return { origin: '', path: relative?.origin === 'https://relative.invalid' ? path(relative.pathname) : '' };
}

/** Returns the most frequent value; the first one if several are equally frequent. */
function mostCommon(origins: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const origin of origins) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best), ['', 0] as [string, number])[0];
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((segment, position) => segment !== b[position]);
  return index === -1 ? a.length : index;
}
