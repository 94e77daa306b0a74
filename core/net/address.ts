import { BlockList, isIP, SocketAddress } from 'node:net';

/**
 * Addresses that do not count as public, by the IANA special-purpose registries (RFC 6890) and the address plan of IPv6
 * (RFC 4291).
 *
 * All standard IPv6 ranges whose addresses contain an IPv4 address (mapped, compatible, translated, NAT64, 6to4,
 * Teredo) are listed. Public services do not need such addresses, and an error in decoding the IPv4 address would
 * bypass the check.
 */
const SPECIAL = {
  unspecified: ['0.0.0.0/8', '::/128'],
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  carrierGradeNat: ['100.64.0.0/10'],
  linkLocal: ['169.254.0.0/16', 'fe80::/10'],
  // The service of Azure for metadata and keys. It is rejected although its address is public.
  cloudMetadata: ['168.63.129.16/32'],
  protocolAssignments: ['192.0.0.0/24', '2001::/23'],
  relayAnycast: ['192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.175.48.0/24', '2620:4f:8000::/48'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  benchmark: ['198.18.0.0/15', '2001:2::/48'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  broadcast: ['255.255.255.255/32'],
  reserved: ['240.0.0.0/4'],
  ipv4Mapped: ['::ffff:0:0/96'],
  ipv4Compatible: ['::/96'],
  ipv4Translated: ['::ffff:0:0:0/96'],
  nat64: ['64:ff9b::/96', '64:ff9b:1::/48'],
  sixToFour: ['2002::/16'],
  teredo: ['2001::/32'],
  uniqueLocal: ['fc00::/7'],
  siteLocal: ['fec0::/10'],
} as const;

/**
 * `invalid`: not an IP address, or an address with a zone id. `unassigned`: an IPv6 address that is in none of the
 * ranges above and not in 2000::/3, the range of all public IPv6 addresses.
 */
export type AddressClass = keyof typeof SPECIAL | 'public' | 'unassigned' | 'invalid';

const GLOBAL_UNICAST = blockOf('2000::/3').list;

// Narrow blocks come before the wide blocks that contain them. Each block has its own list with its family, and is only
// checked for addresses of this family: Node's BlockList treats an IPv4-mapped IPv6 address like the IPv4 address.
const BLOCKS = Object.entries(SPECIAL)
  .flatMap(([name, blocks]) => blocks.map((block) => ({ name: name as AddressClass, ...blockOf(block) })))
  .sort((a, b) => b.bits - a.bits);

/**
 * Returns the class of an address. It uses the same parser as the code that opens connections.
 *
 * @param text one IP address as a resolver or a socket returns it, without brackets
 */
export function addressClass(text: string): AddressClass {
  const family = familyOf(text);
  // `isIP` accepts a zone id, but no public host has an address with one.
  if (family === undefined || text.includes('%')) return 'invalid';
  const special = BLOCKS.find((block) => block.family === family && block.list.check(text, family));
  if (special !== undefined) return special.name;
  return family === 'ipv4' || GLOBAL_UNICAST.check(text, family) ? 'public' : 'unassigned';
}

/**
 * Returns the normalized text of an address, so that equal addresses can be compared as texts. Any other text is
 * returned unchanged.
 */
export function canonicalAddress(text: string): string {
  const family = familyOf(text);
  return family === undefined ? text : new SocketAddress({ address: text, family }).address;
}

type Family = 'ipv4' | 'ipv6';

function familyOf(text: string): Family | undefined {
  return ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(text)];
}

function blockOf(block: string): { list: BlockList; family: Family; bits: number } {
  const [network = '', length] = block.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const bits = Number(length);
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return { list, family, bits };
}
