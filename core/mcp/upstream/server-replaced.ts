import type { EnvironmentId, Store } from '../../../db/store.ts';
import type { RefreshPlan } from '../../accounts/refresh-plan.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { findProvider } from '../../connections/providers.ts';
import { publishedIssuer } from '../../connections/published-config.ts';
import type { Catalogue } from '../../connectors/catalogue.ts';
import type { ProtocolFetch } from '../../oauth/transport.ts';
import { hasMoved } from './discover-authorization.ts';

export interface ReplacedDeps {
  store: Pick<Store, 'read'>;
  catalogue: Catalogue;
  /** Milliseconds UTC. */
  now(): number;
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
}

/**
 * Checks, after the token of an account could not be refreshed, whether the account's MCP server now names
 * authorization servers, and the stored one is not among them. The account then needs a new authorization, even if the
 * stored authorization server still exists.
 *
 * @returns false also if no authorization server was discovered before, or the MCP server's metadata cannot be read
 */
export async function isServerReplaced(
  { store, catalogue, now, fetchFor }: ReplacedDeps,
  { account, pattern }: Pick<RefreshPlan, 'account' | 'pattern'>,
): Promise<boolean> {
  const known = publishedIssuer(pattern);
  if (known === undefined) return false;
  const provider = await findProvider(store.read, catalogue, account.environmentId, account.provider);
  const address = provider?.proxyUrl;
  if (!address) return false;
  // A time limit, because the refresh holds its lease (the exclusive right to refresh the account) during this check.
  const signal = AbortSignal.timeout(MCP_UPSTREAM.challengeMs);
  const timedFetch = async (origins: readonly string[]): Promise<ProtocolFetch> => {
    const fetch = await fetchFor(account.environmentId, origins);
    return (url, init) => fetch(url, { ...init, signal });
  };
  return hasMoved({ address, now, fetchFor: timedFetch }, known);
}
