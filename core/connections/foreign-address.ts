import type { ConnectionRow, EnvironmentRow } from '../../db/store.ts';
import { isAllowed } from './allowed-addresses.ts';
import type { PublishedConfig } from './published-config.ts';

/**
 * Returns the first address published by an MCP server at which a client that an operator has set must not be used: an
 * address that `allowed_addresses` does not list, on another origin than the server. Returns undefined if there is
 * none; outside production, a connection without a list allows all addresses. Without this check, a malicious server
 * could get tokens by naming an authorization server where this client is registered for another purpose (RFC 9700
 * §4.4).
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
