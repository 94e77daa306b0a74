import { networkInterfaces } from 'node:os';

/**
 * Returns the addresses of this machine's interfaces, which the policy rejects. A public address that is translated to
 * this machine (NAT) is not included.
 */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}
