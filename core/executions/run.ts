import type { AccountRow } from '../../db/store.ts';
import type { Fresh } from '../accounts/refresh.ts';
import type { ByteHold } from '../budgets/byte-budget.ts';
import type { Credential } from '../connectors/credential.ts';
import type { ExecutionContentsStore } from '../contents/execution-contents.ts';
import type { StoredFiles } from '../contents/stored-files.ts';
import type { Cause } from '../events/events.ts';
import { type CallWatch, callUpstreamTool, type UpstreamPorts } from '../mcp/upstream/call.ts';
import { endRefusedAccount, type RefusedDeps } from '../mcp/upstream/refused-account.ts';
import { recordRequiredScopes } from '../mcp/upstream/required-scopes.ts';
import type { UpstreamSessions } from '../mcp/upstream/sessions.ts';
import { silenceMsOf } from '../mcp/upstream/timeout.ts';
import type { Egress, EgressRequest } from '../net/egress.ts';
import { createScrubber } from '../net/redact.ts';
import type { PreparedCall } from '../tools/call.ts';
import type { ExecutePorts } from '../tools/execute.ts';
import { executeSteps } from '../tools/execute-steps.ts';
import { FileContent } from '../tools/file-content.ts';
import type { ToolError, ToolOutcome } from '../tools/outcome.ts';
import type { OutboundRequest } from '../tools/wire.ts';
import type { Vault } from '../vault/vault.ts';
import { readAllPages } from './all-pages.ts';
import { accountNotActive } from './next-action.ts';
import { credentialOfPlan, withoutToken } from './open-credential.ts';
import { callWithFiles, type ExecutionPlan, partyOfPlan } from './plan.ts';
import type { ResponseReader } from './response-reader.ts';
import { createStepLog, type StepLog } from './steps.ts';

export interface RunDeps extends RefusedDeps {
  vault: Vault;
  upstreamSessions: UpstreamSessions;
  files: StoredFiles;
  executionContents: ExecutionContentsStore;
  responses: ResponseReader;
  now(): number;
  random(size: number): Buffer;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
  ensureFresh(account: AccountRow, cause: Cause): Fresh | Promise<Fresh>;
  refreshNow(account: AccountRow, cause: Cause, failed?: (error: ToolError) => void): Promise<AccountRow | null>;
}

/**
 * Runs a plan with the account's credential. The credential is refreshed first if it is about to expire, and again if
 * the provider rejects it. The credential is only sent to the origins that the account was connected for.
 *
 * @param watch cancels the call and receives its progress; only used for tools of MCP servers
 * @param steps records the requests, waits and refreshes
 * @throws ApiError ACCOUNT_NOT_ACTIVE if the account has no usable credential and none can be obtained; then nothing
 * was sent. SERVER_BUSY if a refresh had to wait too long for other refreshes. The errors of `callWithFiles` and
 * `executeSteps`
 */
export async function runPlan(
  plan: ExecutionPlan,
  egress: Egress,
  cause: Cause,
  deps: RunDeps,
  watch: CallWatch = {},
  steps: StepLog = createStepLog(deps.now),
): Promise<ToolOutcome> {
  const { account } = plan;
  const checked = deps.ensureFresh(account, cause);
  const fresh =
    checked instanceof Promise
      ? await steps.refresh(
          () => checked,
          (got) => (got.error ? false : got.account.credentialGeneration !== account.credentialGeneration || undefined),
        )
      : checked;
  if (fresh.error) return { ok: false, error: fresh.error, sent: false };
  const bodies: Bodies = { files: egress.hold(), wire: egress.hold() };
  try {
    const hasSpace = bodies.files.reserveNow(plan.filesBytes) || (await bodies.files.reserve(plan.filesBytes));
    if (!hasSpace) return OUT_OF_FILE_MEMORY;
    return await runHeld(plan, fresh.account, egress, bodies, cause, deps, watch, steps);
  } finally {
    bodies.files.release();
    bodies.wire.release();
  }
}

/** The memory that an execution holds for its bodies. */
interface Bodies {
  files: ByteHold;
  /** The request that is being sent, and its response until it has been read. */
  wire: ByteHold;
}

const OUT_OF_FILE_MEMORY: ToolOutcome = {
  ok: false,
  error: {
    kind: 'service_busy',
    retryable: true,
    retryAfterMs: 1_000,
    message: 'The service does not have enough free memory for the files of this call. Try again later.',
  },
  sent: false,
};

async function runHeld(
  plan: ExecutionPlan,
  given: AccountRow,
  egress: Egress,
  bodies: Bodies,
  cause: Cause,
  deps: RunDeps,
  watch: CallWatch,
  steps: StepLog,
): Promise<ToolOutcome> {
  let account = given;
  const context = partyOfPlan(plan);
  if (account.status !== 'ACTIVE') throw accountNotActive(account, context);
  let refreshFailure: ToolError | undefined;
  const call = plan.files.length === 0 ? plan.call : await callWithFiles(plan, deps);
  const ports: ExecutePorts = {
    credential: () => credentialOfPlan(plan, account, deps) ?? renewedCredential(),
    refresh: renew,
    send: (request, timeoutMs, origins = account.origins) => {
      // The previous response has been read, so its memory can be released.
      bodies.wire.release();
      // Other origins come from responses, for example for an upload. They never receive the trace context: the setting
      // of the connection applies only to the account's own origins.
      const sendTraceContext = origins === account.origins && plan.connection.settings.sendTraceContext;
      const options = { allowedOrigins: origins, timeoutMs, sendTraceContext, hold: bodies.wire };
      return steps.request(() => send(egress, request, options));
    },
    read: (page, response, secrets, hidden) =>
      deps.responses.read(account.environmentId, page, response, secrets, hidden),
    scrubber: createScrubber,
    now: deps.now,
    random: deps.random,
    wait: (ms) => steps.wait(() => deps.wait(ms)),
  };
  const run = (page: PreparedCall) => (page.tool.mcp ? callUpstream(page) : executeSteps(page, ports));
  const outcome = withRefreshFailure(
    plan.allPages ? await readAllPages(call, run, deps.now) : await run(call),
    refreshFailure,
  );
  return outcome.ok && outcome.data instanceof FileContent ? storeFile(outcome, outcome.data) : outcome;

  async function callUpstream(page: PreparedCall): Promise<ToolOutcome> {
    const upstream: UpstreamPorts = {
      ...ports,
      sessions: deps.upstreamSessions,
      environmentId: account.environmentId,
      accountId: account.id,
      stream: (request) => steps.request(() => egress.stream({ ...request, allowedOrigins: account.origins })),
      hold: egress.hold,
      sendTraceContext: plan.connection.settings.sendTraceContext,
      silenceMs: silenceMsOf(plan.connection),
      watch,
    };
    const outcome = await callUpstreamTool(page, upstream);
    // If the refresh failed, it is unknown whether the grant has ended.
    const isRefused = !outcome.ok && outcome.error.kind === 'upstream_auth' && !outcome.error.refreshFailed;
    const hasEnded = isRefused && !refreshFailure;
    if (hasEnded) await endRefusedAccount(deps, account, cause);
    if (!outcome.ok) await recordRequiredScopes(deps, account, outcome.error);
    return outcome;
  }

  async function storeFile(outcome: ToolOutcome & { ok: true }, file: FileContent): Promise<ToolOutcome> {
    const kept = await deps.files.keep(account.environmentId, account, file);
    if (kept) return { ...outcome, data: kept };
    const size = file.bytes.length;
    const statement = `The file of ${size} bytes was not stored: the environment has reached its limit for stored files.`;
    const truncated = { statement, cuts: [{ path: '', kept: 0, of: size, unit: 'bytes' as const }] };
    return { ...outcome, data: file.summary(), truncated };
  }

  async function renewedCredential(): Promise<Credential> {
    const renewed = await renew();
    if (!renewed) throw withoutToken(account, context);
    return renewed;
  }

  async function renew(): Promise<Credential | null> {
    const refreshed = await steps.refresh(
      () =>
        deps.refreshNow(account, cause, (error) => {
          refreshFailure = error;
        }),
      (got) => (got === null && !refreshFailure ? undefined : got?.status === 'ACTIVE'),
    );
    if (refreshed?.status !== 'ACTIVE') return null;
    account = refreshed;
    return credentialOfPlan(plan, account, deps);
  }
}

/** Adds the error of a failed refresh to the error of a rejected credential, because the former says what to do. */
function withRefreshFailure<T extends ToolOutcome>(outcome: T, failure: ToolError | undefined): ToolOutcome {
  if (outcome.ok || outcome.error.kind !== 'upstream_auth' || !failure) return outcome;
  const { retryable, retryAfterMs, faultyPart } = failure;
  const message = `${outcome.error.message.replace(/\.$/, '')}. ${failure.message}`;
  return { ...outcome, error: { ...outcome.error, retryable, retryAfterMs, faultyPart, message, refreshFailed: true } };
}

function send(egress: Egress, request: OutboundRequest, options: Omit<EgressRequest, keyof OutboundRequest>) {
  const { method, url, headers, body } = request;
  return egress.send({
    method,
    url,
    headers,
    ...options,
    redirects: 'same-origin',
    ...(body !== undefined && { body }),
  });
}
