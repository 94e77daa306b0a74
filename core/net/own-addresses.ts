import { networkInterfaces } from 'node:os';

/** The addresses of this machine's interfaces, for the policy to refuse. An address in front of a NAT is not among them. */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}
