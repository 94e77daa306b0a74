import { BlockList, isIP } from 'node:net';
import { canonicalAddress } from './address.ts';

/**
 * The prefix length that identifies an IPv6 client: a client usually controls at least a /64 network (RFC 6177) and may
 * use any address in it.
 */
const IPV6_CLIENT_BITS = 64;

/**
 * Returns a text that identifies a client by its address, for limits per address: the IPv4 address, or the first 64
 * bits of the IPv6 address. An IPv4-mapped IPv6 address counts as the IPv4 address.
 *
 * @param address as returned by the socket; undefined after the socket was closed
 */
export function clientOf(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = withoutMapping(address);
  if (isIP(plain) !== 6) return plain;
  const [head = '', tail] = canonicalAddress(plain.replace(/%.*$/, '')).split('::');
  const groups = [head, tail ?? ''].map((half) => (half === '' ? [] : half.split(':')));
  const [before = [], after = []] = groups;
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return `${all.slice(0, IPV6_CLIENT_BITS / 16).join(':')}::/${IPV6_CLIENT_BITS}`;
}

/** The part of a request that identifies the client that sent it. */
export interface AddressedRequest {
  socket: { remoteAddress?: string | undefined };
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Returns a function that identifies the client of a request, as `clientOf` does. A trusted proxy appends the address
 * of its peer to `X-Forwarded-For`, so the last entry of the header that is not a trusted proxy is the client's
 * address. If the peer of the socket is not a trusted proxy, the header is ignored and the peer is the client (threat
 * S10). The peer is also the client if the header has no such entry, or if the entry is not an IP address.
 *
 * @param isTrusted whether an address is that of a trusted proxy
 */
export function createClientLookup(isTrusted: (address: string | undefined) => boolean) {
  return ({ socket: { remoteAddress }, headers }: AddressedRequest): string => {
    if (!isTrusted(remoteAddress)) return clientOf(remoteAddress);
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    const last = hops.map((hop) => hop.trim()).findLast((hop) => !isTrusted(hop));
    return clientOf(last !== undefined && isIP(last) !== 0 ? last : remoteAddress);
  };
}

/**
 * Reads the setting VALETKEY_TRUSTED_PROXIES.
 *
 * @param text comma-separated IP addresses and blocks such as 10.0.0.0/8; empty for none
 * @returns a function that returns whether an address is one of them
 * @throws Error naming the first invalid entry
 */
export function parseTrustedProxies(text: string): (address: string | undefined) => boolean {
  const list = new BlockList();
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  for (const entry of entries) addTo(list, entry);
  return (address) => {
    if (address === undefined || entries.length === 0) return false;
    const plain = withoutMapping(address);
    return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

function addTo(list: BlockList, entry: string): void {
  const [network = '', bits, ...rest] = entry.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const most = family === 'ipv6' ? 128 : 32;
  const isBlock = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (isIP(network) === 0 || network.includes('%') || !isBlock || rest.length > 0) {
    throw new Error(`VALETKEY_TRUSTED_PROXIES: "${entry}" is not an IP address or a block such as 10.0.0.0/8`);
  }
  list.addSubnet(network, bits === undefined ? most : Number(bits), family);
}

function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
