import { BlockList, isIP } from 'node:net';
import { canonicalAddress } from './address.ts';

/** Bits of an IPv6 address that one client controls at least (RFC 6177): it may use any address below them. */
const IPV6_CLIENT_BITS = 64;

/**
 * Names a client by the address of its connection, for limits that count by address: an IPv4 address, or the first 64 bits of an IPv6
 * address. An IPv4 address is the same one when a socket for both families shows it as IPv6.
 *
 * @param address as a socket has it; undefined once the socket is closed
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

/**
 * Reads the setting VALETKEY_TRUSTED_PROXIES.
 *
 * @param text comma list of IP addresses and blocks such as 10.0.0.0/8; empty for none
 * @returns whether an address of a connection is one of them
 * @throws Error that names the first entry which cannot be used
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
    return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
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
