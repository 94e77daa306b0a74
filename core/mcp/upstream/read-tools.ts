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
import { createScrubber, type Scrubber } from '../../net/redact.ts';
import type { ToolError } from '../../tools/outcome.ts';
import type { Vault } from '../../vault/vault.ts';
import { upstreamFailure } from './failure.ts';
import { listUpstreamTools } from './list.ts';
import { endRefusedAccount, type RefusedDeps } from './refused-account.ts';
import type { ListedPage } from './results.ts';
import type { UpstreamPlace, UpstreamSessions } from './sessions.ts';

export interface ReadDeps extends RefusedDeps {
  store: Pick<Store, 'read' | 'write'>;
  catalogue: Catalogue;
  vault: Vault;
  upstreamSessions: Pick<UpstreamSessions, 'request'>;
  egressOf(environment: EnvironmentRow): Egress;
  ensureFresh(account: AccountRow, cause: Cause): Promise<Fresh>;
  refreshNow(account: AccountRow, cause: Cause, failed?: (error: ToolError) => void): Promise<AccountRow | null>;
  now(): number;
}

export type ReadOutcome = { ok: true } | { ok: false; error: ToolError };

/**
 * Reads the tools of an MCP server with the credential of an account, under the egress policy and limited to the
 * account's origins. A rejected credential is refreshed once; if that gives no newer credential, the account is taken
 * out of use.
 *
 * @param take receives each page, and the scrubber that removes the credential from everything derived from it
 * @param signal ends the list
 * @throws ApiError ACCOUNT_NOT_ACTIVE; and what `take` throws
 */
export async function readUpstreamTools(
  deps: ReadDeps,
  environment: EnvironmentRow,
  given: AccountRow,
  cause: Cause,
  take: (page: ListedPage, scrub: Scrubber) => Promise<void>,
  signal: AbortSignal,
): Promise<ReadOutcome> {
  const fresh = await deps.ensureFresh(given, cause);
  if (fresh.error) return { ok: false, error: fresh.error };
  const secrets: string[] = [];
  const first = await read(fresh.account);
  if (first.ok || first.error.kind !== 'upstream_auth') return first;
  let refreshFailure: ToolError | undefined;
  const newer = await deps.refreshNow(fresh.account, cause, (error) => {
    refreshFailure = error;
  });
  const second = newer === null ? first : await read(newer);
  // If the token could not be renewed at the moment, the grant may still be valid.
  if (!second.ok && second.error.kind === 'upstream_auth' && !refreshFailure) {
    await endRefusedAccount(deps, newer ?? fresh.account, cause);
  }
  return second;

  async function read(account: AccountRow): Promise<ReadOutcome> {
    const place = await placeOf(deps, environment, account, secrets);
    const pages = listUpstreamTools(deps.upstreamSessions, place, signal);
    for (;;) {
      const next = await pages.next().catch((error) => upstreamFailure(error, true, deps.now()));
      // Redacted again: a value that was parsed from a header, such as scopes without their quotes, can contain a
      // secret that was not found in the original header.
      if ('error' in next) return { ok: false, error: createScrubber(secrets)(next.error) };
      if (next.done) return { ok: true };
      await take(next.value, createScrubber(secrets));
    }
  }
}

async function placeOf(
  deps: ReadDeps,
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
  };
}
