import { networkInterfaces } from 'node:os';

/**
 * Returns the addresses of this machine's network interfaces, for `ownAddresses` of the policy. A public address that
 * NAT translates to this machine is not included.
 */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}
