import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from 'openapi-backend';
import { readSelector } from '../../core/accounts/selector.ts';
import { REQUEST_BODY } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';
import { endOf, type Outcome, type StartedExecution, storeEnd } from '../../core/executions/execution-end.ts';
import type { RawAnswer, RawCall } from '../../core/executions/raw-call.ts';
import { planRawCall, runRawCall } from '../../core/executions/raw-call.ts';
import { rawAnswerHeaders } from '../../core/executions/raw-headers.ts';
import { toolFailure } from '../../core/executions/tool-failure.ts';
import { scrub } from '../../core/net/redact.ts';
import { kindOfStatus, type ToolOutcome } from '../../core/tools/outcome.ts';
import { RAW_CALL } from '../../core/tools/tool.ts';
import { authenticate } from '../bearer.ts';
import { readRawBody } from '../body.ts';
import { bodyHoldOf } from '../body-hold.ts';
import type { Deps } from '../deps.ts';
import { Exchange } from '../exchange.ts';
import { errorReply } from '../failure.ts';
import { createRateLimiter, rateLimitHeaders } from '../rate-limit.ts';
import { writeReply } from '../write.ts';
import { passOn } from './pass-on.ts';

const PREFIX = '/api/v1/proxy';
const READ_METHODS = ['GET', 'HEAD'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Headers that stand before those of the provider, and cannot be replaced by them. */
const OWN_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Whether a request is a raw call. */
export function isRawCall(req: IncomingMessage): boolean {
  return /^\/api\/v1\/proxy(\/|\?|$)/.test(req.url ?? '/');
}

/**
 * Raw calls: a request to the API of an account, answered as its provider answers. They stand beside the operations, because a
 * contract cannot say "any path, any status, any type"; host, token, rate limit and errors are those of every operation.
 */
export function createProxy(deps: Deps): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { rateLimit } = deps.config;
  const limit = rateLimit === null ? null : createRateLimiter(rateLimit, deps.now);

  async function answer(exchange: Exchange): Promise<number> {
    const { req } = exchange;
    const environment = await deps.environmentOf(req.headers.host);
    exchange.environment = environment;
    exchange.client = await authenticate(req, RAW_CALL, exchange, deps);
    if (limit) {
      const state = limit(`${environment.id} client ${exchange.client.clientId}`);
      Object.assign(exchange.answerHeaders, rateLimitHeaders(rateLimit as number, state));
      if (!state.allowed) throw new ApiError('RATE_LIMITED', 'The limit of requests per second is used up.');
    }
    if (!METHODS.includes(req.method ?? '')) {
      exchange.answerHeaders['allow'] = METHODS.join(', ');
      throw new ApiError('METHOD_NOT_ALLOWED', 'Raw calls do not have this method.');
    }
    const { call, execution } = await begin(exchange);
    const cause = {
      environmentId: environment.id,
      actor: exchange.client.clientId,
      requestId: exchange.requestId,
    };
    exchange.answerHeaders['valetkey-execution-id'] = execution.executionId;
    const result = await runRawCall(call, deps.egressOf(environment), cause, deps).catch(async (error: unknown) => {
      await record(error instanceof ApiError ? error : 'UNKNOWN', execution);
      throw error;
    });
    if (!('error' in result)) return handOn(exchange, result, execution);
    await record({ ok: false, ...result }, execution);
    throw toolFailure(result.error, execution.executionId, call);
  }

  const record = (outcome: Outcome, execution: StartedExecution) => storeEnd(deps, endOf(outcome, execution, deps));

  /** The start is recorded before a byte leaves (threat E7). */
  async function begin(exchange: Exchange): Promise<{ call: RawCall; execution: StartedExecution }> {
    const { req, environment, client } = exchange;
    const { id: environmentId } = environment as NonNullable<typeof environment>;
    const headers = flat(req);
    const selector = readSelector(accountOf(headers), 'Valetkey-Account-Id');
    const agentRunId = ownText(headers, 'valetkey-agent-run-id') ?? null;
    const [target = '', query = ''] = split(req.url ?? '');
    const body = await readRawBody(req, REQUEST_BODY.rawBytes, bodyHoldOf(exchange, deps));
    const request = { method: req.method ?? '', path: target.slice(PREFIX.length) || '/', query, headers, body };
    const executionId = deps.newId('exec');
    const startedAt = deps.now();
    const call = await deps.store.write(async (tx) => {
      const planned = await planRawCall(tx, deps, environmentId, selector, request);
      await tx.executions.insert(environmentId, {
        id: executionId,
        accountId: planned.account.id,
        connector: planned.account.connector,
        toolName: RAW_CALL,
        agentRunId,
        apiClientId: client?.clientId ?? '',
        instance: deps.instance.number,
        startedAt,
      });
      return planned;
    });
    const readOnly = READ_METHODS.includes(request.method);
    return { call, execution: { environmentId, plan: { account: call.account }, executionId, startedAt, readOnly } };
  }

  async function handOn(
    { req, res, requestId, answerHeaders }: Exchange,
    { answer, secrets }: RawAnswer,
    execution: StartedExecution,
  ): Promise<number> {
    const { status, headers, body } = answer;
    res.writeHead(status, {
      ...rawAnswerHeaders(headers, (text) => scrub(text, secrets)),
      ...OWN_HEADERS,
      'x-request-id': requestId,
      ...answerHeaders,
      ...(!req.complete && { connection: 'close' }),
    });
    let recorded = false;
    const recordOnce = async (outcome: Outcome) => {
      if (recorded) return;
      recorded = true;
      // A record that cannot be stored is logged there; the head has been sent, so the status stays.
      await record(outcome, execution);
    };
    try {
      const passed = await passOn(body, res, secrets, () => recordOnce(outcomeOf(status)));
      // A caller that left does not change what the provider answered.
      await recordOnce(passed === 'cut' ? cutOff(status) : outcomeOf(status));
    } catch {
      res.destroy();
    }
    return status;
  }

  return async (req, res) => {
    const requestId = deps.newId('req');
    const operation = { operationId: RAW_CALL, security: [{ oauth2: [RAW_CALL] }] } as unknown as Operation;
    const exchange = new Exchange(req, res, requestId, operation);
    let status: number;
    try {
      status = await answer(exchange);
    } catch (thrown) {
      const reply = errorReply(thrown, exchange, deps);
      writeReply(exchange, reply);
      status = reply.status;
    }
    deps.onAnswer(exchange, status);
  };
}

function outcomeOf(status: number): ToolOutcome {
  const kind = status < 400 ? undefined : kindOfStatus(status);
  if (kind === undefined) return { ok: true, data: null, upstreamStatus: status };
  const message = `The provider answered ${status}`;
  return { ok: false, error: { kind, retryable: false, upstreamStatus: status, message }, sent: true };
}

/** The response began with this status and ended before it was complete. */
function cutOff(status: number): ToolOutcome {
  const error = { kind: 'upstream_invalid_response' as const, retryable: false, upstreamStatus: status };
  return { ok: false, error: { ...error, message: 'The response ended early.' }, sent: true };
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

/** Percent-encoded UTF-8, since a header holds ASCII alone. */
function ownText(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const text = headers[name];
  if (text === undefined || text === '') return undefined;
  try {
    const decoded = decodeURIComponent(text);
    if (decoded.length <= 255) return decoded;
  } catch {
    // Named below.
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
