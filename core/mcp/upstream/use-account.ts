import type { AccountRow, ConnectionRow, EnvironmentRow, Store } from '../../../db/store.ts';
import { openCredentials } from '../../accounts/credentials.ts';
import type { Fresh } from '../../accounts/refresh.ts';
import { findProvider, requirePattern } from '../../connections/providers.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import { baseUrlOf } from '../../connectors/base-url.ts';
import type { Catalogue } from '../../connectors/catalogue.ts';
import { placeCredential } from '../../connectors/placement.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import type { Cause } from '../../events/events.ts';
import { credentialOf } from '../../executions/credential.ts';
import { accountNotActive } from '../../executions/next-action.ts';
import { requireBinding } from '../../executions/plan.ts';
import type { Egress } from '../../net/egress.ts';
import { createScrubber } from '../../net/redact.ts';
import type { ToolError } from '../../tools/outcome.ts';
import type { Vault } from '../../vault/vault.ts';
import type { UpstreamRequest } from './ask.ts';
import { upstreamFailure } from './failure.ts';
import { endRefusedAccount, type RefusedDeps } from './refused-account.ts';
import { recordRequiredScopes } from './required-scopes.ts';
import type { UpstreamResults } from './results.ts';
import type { UpstreamPlace, UpstreamSessions } from './sessions.ts';

export interface UseAccountDeps extends RefusedDeps {
  store: Pick<Store, 'read' | 'write'>;
  catalogue: Catalogue;
  vault: Vault;
  upstreamSessions: Pick<UpstreamSessions, 'request'>;
  egressOf(environment: EnvironmentRow): Egress;
  ensureFresh(account: AccountRow, cause: Cause): Fresh | Promise<Fresh>;
  refreshNow(account: AccountRow, cause: Cause, failed?: (error: ToolError) => void): Promise<AccountRow | null>;
  now(): number;
}

/** Why a request to an MCP server failed, and whether it was sent. */
export interface UpstreamFailed {
  ok: false;
  error: ToolError;
  sent: boolean;
}

/**
 * Runs `attempt`, which sends requests to the MCP server of an account with its credential. The requests are subject to
 * the egress policy and limited to the account's origins. If the server rejects the credential, the credential is
 * refreshed if possible and `attempt` runs once more. If there is no newer credential or the server rejects it too, the
 * account is set to EXPIRED, except after a temporary failure of the refresh. Scopes that the server requires in an
 * error are recorded.
 *
 * @param attempt sends requests with the address and credential of `place`; `place.secrets` has the secrets of all
 * attempts
 * @returns the last result of `attempt`; or the failure of a refresh that was necessary before the first attempt
 * @throws ApiError ACCOUNT_NOT_ACTIVE; and what `attempt` throws
 */
export async function withUpstreamAccount<T extends { ok: true }>(
  deps: UseAccountDeps,
  environment: EnvironmentRow,
  given: AccountRow,
  cause: Cause,
  attempt: (place: UpstreamPlace) => Promise<T | UpstreamFailed>,
): Promise<T | UpstreamFailed> {
  const fresh = await deps.ensureFresh(given, cause);
  if (fresh.error) return { ok: false, error: fresh.error, sent: false };
  const secrets: string[] = [];
  const use = async (account: AccountRow) => {
    const result = await attempt(await placeOf(deps, environment, account, secrets));
    if (!result.ok) await recordRequiredScopes(deps, account, result.error);
    return result;
  };
  const first = await use(fresh.account);
  if (first.ok || first.error.kind !== 'upstream_auth') return first;
  let refreshFailure: ToolError | undefined;
  const newer = await deps.refreshNow(fresh.account, cause, (error) => {
    refreshFailure = error;
  });
  const second = newer === null ? first : await use(newer);
  // If the refresh failed temporarily, the grant may still be valid, so the account stays active.
  if (!second.ok && second.error.kind === 'upstream_auth' && !refreshFailure) {
    await endRefusedAccount(deps, newer ?? fresh.account, cause);
  }
  return second;
}

/**
 * Sends one request that only reads, such as a list request, to the MCP server of an account.
 *
 * @throws ApiError ACCOUNT_NOT_ACTIVE
 */
export function readUpstream<M extends keyof UpstreamResults>(
  deps: UseAccountDeps,
  environment: EnvironmentRow,
  account: AccountRow,
  cause: Cause,
  request: UpstreamRequest<M>,
): Promise<{ ok: true; value: UpstreamResults[M] } | UpstreamFailed> {
  return withUpstreamAccount(deps, environment, account, cause, async (place) => {
    try {
      return { ok: true as const, value: await deps.upstreamSessions.request(place, request) };
    } catch (error) {
      return failedAt(place, error, deps.now());
    }
  });
}

/**
 * Returns the failure for an error of a request that only reads. Secrets of the account are removed, because a header
 * value in the error can contain one.
 */
export function failedAt({ secrets }: UpstreamPlace, error: unknown, now: number): UpstreamFailed {
  return { ok: false, ...createScrubber(secrets)(upstreamFailure(error, true, now)) };
}

async function placeOf(
  deps: UseAccountDeps,
  environment: EnvironmentRow,
  account: AccountRow,
  secrets: string[],
): Promise<UpstreamPlace> {
  const { read } = deps.store;
  const provider = (await findProvider(read, deps.catalogue, environment.id, account.provider)) as ProviderDefinition;
  const connection = (await read.connections.get(environment.id, account.connectionId)) as ConnectionRow;
  const pattern = requirePattern(provider, account.authorizationType, 'connector');
  const details = openCredentials(deps.vault, account, account);
  const credential = credentialOf(details, account.binding.fields, connection.clientId);
  if (account.status !== 'ACTIVE' || credential === null) throw accountNotActive(account, { pattern, connection });
  requireBinding(account, connection, { provider, pattern });
  const shown = (account.publicDetails?.['static_auth'] as { details?: Record<string, unknown> } | undefined)?.details;
  const url = new URL(baseUrlOf(provider, accountInputs(pattern, account.apiConfig, shown)));
  const egress = deps.egressOf(environment);
  const placed = placeCredential(pattern, credential);
  secrets.push(...placed.secrets);
  return {
    environmentId: environment.id,
    accountId: account.id,
    url,
    credential: placed.parts,
    secrets,
    stream: (request) => egress.stream({ ...request, allowedOrigins: account.origins }),
    hold: egress.hold,
    sendTraceContext: connection.settings.sendTraceContext,
  };
}
