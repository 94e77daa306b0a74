import type { AccountRow } from '../../db/store.ts';
import { openCredentials } from '../accounts/credentials.ts';
import { isOwnObtaining } from '../accounts/obtaining/kinds.ts';
import type { Fresh } from '../accounts/refresh.ts';
import type { Credential } from '../connectors/placement.ts';
import type { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { Egress } from '../net/egress.ts';
import { scrub } from '../net/redact.ts';
import { MASK, Secret } from '../secret.ts';
import type { DryRunRequest } from '../tools/call.ts';
import { dryRun } from '../tools/call.ts';
import type { OutboundRequest } from '../tools/execute.ts';
import { executeTool } from '../tools/execute.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import type { Vault } from '../vault/vault.ts';
import { credentialOf } from './credential.ts';
import { accountNotActive } from './not-active.ts';
import type { ExecutionPlan } from './plan.ts';
import { signingCredential, signingPreview } from './signing.ts';

export interface RunTools {
  vault: Vault;
  now(): number;
  ensureFresh(account: AccountRow, cause: Cause): Promise<Fresh>;
  refreshNow(account: AccountRow, cause: Cause): Promise<AccountRow | null>;
}

/**
 * Runs a plan with the account's credential, refreshed before it is used where it would be too old, and at most once more when
 * the provider refuses it. The credential leaves only for the origins that it was connected for.
 *
 * @throws ApiError ACCOUNT_NOT_ACTIVE when the credential has ended for good; nothing was sent then
 */
export async function runPlan(
  plan: ExecutionPlan,
  egress: Egress,
  cause: Cause,
  tools: RunTools,
): Promise<ToolOutcome> {
  const fresh = await tools.ensureFresh(plan.account, cause);
  if (fresh.error) return { ok: false, error: fresh.error, sent: false };
  let { account } = fresh;
  if (account.status !== 'ACTIVE') throw accountNotActive(account);
  return executeTool(plan.call, {
    async credential() {
      const held = open(plan, account, tools);
      if (held) return held;
      const renewed = await renew();
      if (!renewed) throw withoutToken(account);
      return renewed;
    },
    refresh: renew,
    send: (request) => send(egress, request, account.origins),
    scrub,
    now: tools.now,
  });

  async function renew(): Promise<Credential | null> {
    const refreshed = await tools.refreshNow(account, cause);
    if (refreshed?.status !== 'ACTIVE') return null;
    account = refreshed;
    return open(plan, account, tools);
  }
}

/** The exact request of a plan with its secrets masked; nothing is obtained, refreshed or sent. */
export function previewPlan(plan: ExecutionPlan, tools: Pick<RunTools, 'vault' | 'now'>): DryRunRequest {
  const credential = open(plan, plan.account, tools) ?? placeholderOf(plan);
  if (!credential) throw withoutToken(plan.account);
  return dryRun(plan.call, credential);
}

/** Stands for a token that the service will have obtained by the time that the call is made. */
function placeholderOf({ account, call }: ExecutionPlan): Credential | undefined {
  if (!isOwnObtaining(account.authorizationType)) return undefined;
  return signingPreview({ account, pattern: call.pattern }) ?? { kind: 'token', accessToken: new Secret(MASK) };
}

function withoutToken({ authorizationType }: AccountRow): ApiError {
  return accountNotActive({ status: 'EXPIRED', statusReason: 'There is no access token to use.', authorizationType });
}

function open(
  { call, connection }: ExecutionPlan,
  account: AccountRow,
  tools: Pick<RunTools, 'vault' | 'now'>,
): Credential | null {
  const details = openCredentials(tools.vault, account, account);
  const signing = signingCredential({ account, pattern: call.pattern }, details, tools);
  return signing ?? credentialOf(details, connection.clientId);
}

async function send(egress: Egress, request: OutboundRequest, origins: readonly string[]) {
  const { method, url, headers, body } = request;
  const {
    status,
    headers: answered,
    body: bytes,
  } = await egress.send({
    method,
    url: new URL(url),
    headers,
    allowedOrigins: origins,
    redirects: 'same-origin',
    ...(body !== undefined && { body }),
  });
  return { status, headers: answered, body: bytes };
}
