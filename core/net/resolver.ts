import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Gives every IP address of a host name. It is asked once for each connection; the answer is checked, then used as it is. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** The resolver of the operating system. IPv4 first: addresses are tried one after another, and many hosts have no IPv6 route. */
export const systemResolver: Resolver = async (hostname) => {
  const found = await lookup(hostname, { all: true, order: 'ipv4first' });
  return found.map(({ address }) => address);
};

/** An address needs no resolver. */
export async function addressesOf(hostname: string, resolver: Resolver): Promise<readonly string[]> {
  return isIP(hostname) === 0 ? resolver(hostname) : [hostname];
}
