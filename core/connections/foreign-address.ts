import type { ConnectionRow, EnvironmentRow } from '../../db/store.ts';
import { isAllowed } from './allowed-addresses.ts';
import type { PublishedConfig } from './published-config.ts';

/**
 * Returns an address on another host than the MCP server's at which an operator's own client must not be used (RFC 9700
 * §4.4). Otherwise a malicious server could get tokens by naming an authorization server where this client is
 * registered for another purpose.
 */
export function foreignAddress(
  { kind }: Pick<EnvironmentRow, 'kind'>,
  { allowedAddresses: allowed }: Pick<ConnectionRow, 'allowedAddresses'>,
  server: string | null | undefined,
  { issuer, authorize_uri, token_uri, revocation_uri }: PublishedConfig,
): string | undefined {
  if (allowed === null && kind !== 'PRODUCTION') return undefined;
  const origin = server ? new URL(server).origin : undefined;
  const named = [issuer, authorize_uri, token_uri, revocation_uri].filter((address) => address !== undefined);
  return named.find((address) => new URL(address).origin !== origin && !isAllowed(address, allowed ?? []));
}
