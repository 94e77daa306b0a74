import type { Tool as McpTool } from '@modelcontextprotocol/client';
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
import { accountNotActive } from '../../executions/not-active.ts';
import { requireBinding } from '../../executions/plan.ts';
import type { Egress } from '../../net/egress.ts';
import type { ToolError } from '../../tools/outcome.ts';
import type { OutboundRequest } from '../../tools/wire.ts';
import type { Vault } from '../../vault/vault.ts';
import { upstreamFailure } from './failure.ts';
import { listUpstreamTools } from './list.ts';
import { createUpstreamFetch } from './upstream-fetch.ts';

export interface ReadTools {
  store: Pick<Store, 'read'>;
  catalogue: Catalogue;
  vault: Vault;
  egressOf(environment: EnvironmentRow): Egress;
  ensureFresh(account: AccountRow, cause: Cause): Promise<Fresh>;
}

export type ReadOutcome = { ok: true; listed: McpTool[] } | { ok: false; error: ToolError };

/**
 * Asks an MCP server for its tools with the credential of an account, under the egress rules and within the account's origins.
 *
 * @throws ApiError ACCOUNT_NOT_ACTIVE
 */
export async function readUpstreamTools(
  tools: ReadTools,
  environment: EnvironmentRow,
  given: AccountRow,
  cause: Cause,
): Promise<ReadOutcome> {
  const fresh = await tools.ensureFresh(given, cause);
  if (fresh.error) return { ok: false, error: fresh.error };
  const { account } = fresh;
  const { read } = tools.store;
  const provider = (await findProvider(read, tools.catalogue, environment.id, account.provider)) as ProviderDefinition;
  const connection = (await read.connections.get(environment.id, account.connectionId)) as ConnectionRow;
  const pattern = requirePattern(provider, account.authorizationType, 'connector');
  const details = openCredentials(tools.vault, account, account);
  const credential = credentialOf(details, account.binding.fields, connection.clientId);
  if (account.status !== 'ACTIVE' || credential === null) throw accountNotActive(account);
  requireBinding(account, connection, { provider, pattern });
  const shown = (account.publicDetails?.['static_auth'] as { details?: Record<string, unknown> } | undefined)?.details;
  const url = new URL(baseUrlOf(provider, accountInputs(pattern, account.apiConfig, shown)));
  const egress = tools.egressOf(environment);
  const { parts } = placeCredential(pattern, credential);
  const wire = createUpstreamFetch((request) => send(egress, request, account.origins), parts);
  try {
    return { ok: true, listed: await listUpstreamTools(url, wire) };
  } catch (error) {
    return { ok: false, error: upstreamFailure(error, wire, true).error };
  }
}

function send(egress: Egress, { method, url, headers, body }: OutboundRequest, allowedOrigins: readonly string[]) {
  return egress.send({ method, url: new URL(url), headers, allowedOrigins, ...(body !== undefined && { body }) });
}
