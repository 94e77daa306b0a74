import type { IncomingMessage } from 'node:http';
import { readSelector } from '../../core/accounts/selector.ts';
import { REQUEST_BODY } from '../../core/budgets.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { ApiError } from '../../core/errors.ts';
import type { Cause } from '../../core/events/events.ts';
import { endOf, type Outcome, type StartedExecution, storeEnd } from '../../core/executions/execution-end.ts';
import type { RawCall, RawResponse } from '../../core/executions/raw-call.ts';
import { planRawCall, runRawCall } from '../../core/executions/raw-call.ts';
import { rawResponseHeaders } from '../../core/executions/raw-headers.ts';
import { recordPlanned, recordStart } from '../../core/executions/start.ts';
import { toolFailure } from '../../core/executions/tool-failure.ts';
import type { Egress } from '../../core/net/egress.ts';
import { createScrubber } from '../../core/net/redact.ts';
import { kindOfStatus, type ToolError, type ToolOutcome } from '../../core/tools/outcome.ts';
import { RAW_CALL } from '../../core/tools/tool.ts';
import type { ReadRepositories } from '../../db/store.ts';
import { readRawBody } from '../body/body.ts';
import { type BodyMemory, bodyHoldOf } from '../body/body-hold.ts';
import { type Authentication, authenticate } from '../pipeline/bearer.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { EntryPoint, Pipeline } from '../pipeline/pipeline.ts';
import { errorReply } from '../responses/failure.ts';
import { commonHeaders } from '../responses/write.ts';
import { type ForwardedResponse, forwardResponse } from './forward-response.ts';

const PREFIX = '/api/v1/proxy';
const READ_METHODS = ['GET', 'HEAD'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A content security policy, so that a page of a provider cannot run scripts under this server's origin. */
const POLICY = { 'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'" };

/** Whether a request is a raw call. */
export function isRawCall(req: IncomingMessage): boolean {
  return /^\/api\/v1\/proxy(\/|\?|$)/.test(req.url ?? '/');
}

export type RawCallDeps = Executions & Authentication & BodyMemory;

/**
 * Handles raw calls, which forward a request to the API of an account and return the provider's response. Raw calls are
 * not operations of the contract, because a contract cannot describe "any path, any status, any type". Host, token,
 * rate limit and errors are handled as for operations.
 */
export function createRawCalls(deps: RawCallDeps, pipeline: Pipeline): EntryPoint {
  async function dispatch(exchange: Exchange): Promise<number> {
    void deps.store.shareReads();
    const environment = await pipeline.findEnvironment(exchange);
    if (!METHODS.includes(exchange.req.method ?? '')) {
      exchange.responseHeaders['allow'] = METHODS.join(', ');
      throw new ApiError('METHOD_NOT_ALLOWED', `Raw calls support only the methods ${METHODS.join(', ')}.`);
    }
    await authenticate(exchange, RAW_CALL, deps);
    pipeline.limit(exchange);
    const executionId = deps.newId('exec');
    return deps.instance.executions.during(executionId, () => run(exchange, executionId, deps.egressOf(environment)));
  }

  async function run(exchange: Exchange, executionId: string, egress: Egress): Promise<number> {
    const { call, execution, durable } = await begin(exchange, executionId);
    const cause = causeOf(exchange, execution);
    exchange.responseHeaders['valetkey-execution-id'] = executionId;
    const result = await runRawCall(call, egress, cause, deps).catch(async (error: unknown) => {
      await record(error instanceof ApiError ? error : 'UNKNOWN', execution, cause);
      await durable;
      throw error;
    });
    if ('error' in result) {
      await record({ ok: false, ...result }, execution, cause);
      await durable;
      throw toolFailure(result.error, executionId, call);
    }
    await durable.catch((error: unknown) => {
      result.response.body.destroy();
      throw error;
    });
    const { status } = result.response;
    const passed = await handOn(exchange, result, execution, cause);
    if (passed === 'cut' && !exchange.res.headersSent) throw toolFailure(cutOff(status), executionId, call);
    return status;
  }

  const record = (outcome: Outcome, execution: StartedExecution, cause: Cause) =>
    storeEnd(deps, endOf(outcome, execution, cause, deps));

  /**
   * Records the start of the execution before anything is sent to the provider (threat E7). The write to the disk and
   * the call run concurrently; the response waits for both.
   */
  async function begin(
    exchange: Exchange,
    executionId: string,
  ): Promise<{ call: RawCall; execution: StartedExecution; durable: Promise<void> }> {
    const { req, environment, client } = exchange;
    const { id: environmentId } = environment as NonNullable<typeof environment>;
    const headers = flat(req);
    const selector = readSelector(accountOf(headers), 'Valetkey-Account-Id');
    const agentRunId = ownText(headers, 'valetkey-agent-run-id') ?? null;
    const [target = '', query = ''] = split(req.url ?? '');
    const body = await readRawBody(req, REQUEST_BODY.rawBytes, bodyHoldOf(exchange, deps));
    const request = { method: req.method ?? '', path: target.slice(PREFIX.length) || '/', query, headers, body };
    const startedAt = deps.now();
    const plan = (read: ReadRepositories) => planRawCall(read, deps, environmentId, selector, request);
    const record = {
      id: executionId,
      toolName: RAW_CALL,
      agentRunId,
      apiClientId: client?.actor ?? '',
      instance: deps.instance,
      startedAt,
    };
    const asOf = deps.store.planChanges();
    const ahead = { ...(await plan(deps.store.read)), asOf };
    const { value: call, durable } = await deps.store.commit(async (tx) => {
      if (await recordPlanned(tx, environmentId, ahead, record)) return ahead;
      const again = await plan(tx);
      await recordStart(tx, environmentId, again, record);
      return again;
    });
    const readOnly = READ_METHODS.includes(request.method);
    const execution = { environmentId, plan: { account: call.account }, executionId, startedAt, readOnly };
    return { call, execution, durable };
  }

  async function handOn(
    exchange: Exchange,
    { response, secrets }: RawResponse,
    execution: StartedExecution,
    cause: Cause,
  ): Promise<ForwardedResponse> {
    const { req, res } = exchange;
    const { status, headers, body } = response;
    const scrubber = createScrubber(secrets);
    // RFC 9110 §8.6: the length of a body that is not sent is not known here.
    const isSent = req.method !== 'HEAD' && status !== 204 && status !== 304;
    const begin = (length?: number) => {
      const shown = { ...rawResponseHeaders(headers, scrubber), ...commonHeaders(exchange), ...POLICY };
      // The server's own headers come last, so that the provider's headers cannot replace them.
      res.writeHead(status, length !== undefined && isSent ? { ...shown, 'content-length': length } : shown);
    };
    let recorded = false;
    const recordOnce = async (outcome: Outcome) => {
      if (recorded) return;
      recorded = true;
      // If the outcome cannot be recorded, `record` logs this, and the connection is closed.
      await record(outcome, execution, cause);
    };
    try {
      const beforeEnd = () => recordOnce(outcomeOf(status));
      const passed = await forwardResponse(body, res, { secrets, scrubber, begin, beforeEnd });
      // The outcome is recorded even if the caller has disconnected.
      await recordOnce(passed === 'cut' ? { ok: false, error: cutOff(status), sent: true } : outcomeOf(status));
      return passed;
    } catch {
      res.destroy();
      return 'left';
    }
  }

  return { name: RAW_CALL, dispatch, showError: errorReply };
}

function causeOf({ client, requestId }: Exchange, { environmentId }: StartedExecution): Cause {
  return { environmentId, actor: client?.actor ?? '', requestId };
}

function outcomeOf(status: number): ToolOutcome {
  const kind = status < 400 ? undefined : kindOfStatus(status);
  if (kind === undefined) return { ok: true, data: null, upstreamStatus: status };
  const message = `The provider returned ${status}`;
  return { ok: false, error: { kind, retryable: false, upstreamStatus: status, message }, sent: true };
}

/** The error of a response that began with this status and ended before it was complete. */
function cutOff(status: number): ToolError {
  const message = 'The response of the provider ended before it was complete.';
  return { kind: 'upstream_invalid_response', retryable: false, upstreamStatus: status, message };
}

function accountOf(headers: Readonly<Record<string, string>>) {
  return {
    id: ownText(headers, 'valetkey-account-id'),
    organization_id: ownText(headers, 'valetkey-organization-id'),
    user_id: ownText(headers, 'valetkey-user-id'),
    connector: ownText(headers, 'valetkey-connector'),
    identifier: ownText(headers, 'valetkey-identifier'),
  };
}

/** Reads a header with percent-encoded UTF-8, because headers only contain ASCII. */
function ownText(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const text = headers[name];
  if (text === undefined || text === '') return undefined;
  try {
    const decoded = decodeURIComponent(text);
    if (decoded.length <= 255) return decoded;
  } catch {
    // The error is thrown below.
  }
  const message = 'must be percent-encoded UTF-8 of at most 255 characters';
  throw new ApiError('VALIDATION_FAILED', `The header ${name} ${message}.`, { errors: [{ field: name, message }] });
}

function flat({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  return Object.fromEntries(entries);
}

function split(target: string): string[] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}
