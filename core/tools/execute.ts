import type { Credential } from '../connectors/credential.ts';
import { placeCredential } from '../connectors/placement.ts';
import type { PreparedCall } from './call.ts';
import { isRetryable, type ToolError, type ToolOutcome } from './outcome.ts';
import { type RenderedRequest, renderRequest } from './request.ts';
import { RETRY_LIMITS, waitBeforeRetry } from './retry.ts';
import { signedTexts } from './signed-texts.ts';
import {
  isSendFailure,
  KIND_OF_FAILURE,
  type OutboundRequest,
  type Scrub,
  type SendFailure,
  type UpstreamResponse,
} from './wire.ts';

/** The functions that `executeTool` needs from its caller. */
export interface ExecutePorts {
  /**
   * Sends one request under the egress policy, restricted to the account's origins. Fails with a SendFailure.
   *
   * @param timeoutMs the time that is left for the execution
   * @param origins the allowed origins of a request without the credential; by default those of the account
   */
  send(request: OutboundRequest, timeoutMs: number, origins?: readonly string[]): Promise<UpstreamResponse>;
  /** Returns the account's current credential, synchronously unless one must be obtained first. */
  credential(): Credential | Promise<Credential>;
  /** Returns a newer credential after the provider rejected the current one; null if none can be obtained. */
  refresh(): Promise<Credential | null>;
  /** Creates the function that returns a copy of a value without secrets. */
  scrubber(secrets: readonly string[]): Scrub;
  /**
   * Reads a response, synchronously or in a thread if it is large. Fails with a SendFailure if too many responses are
   * waiting, or if reading takes too much time or memory.
   *
   * @param secrets every text that must not be in the outcome
   * @param hidden the names of query parameters that contain the credential
   */
  read(
    call: PreparedCall,
    response: UpstreamResponse,
    secrets: readonly string[],
    hidden: readonly string[],
  ): ToolOutcome | Promise<ToolOutcome>;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
}

interface Attempt {
  outcome: ToolOutcome;
  /**
   * Whether the cause of a failure may be temporary: true if the provider could not be reached, or if a response was
   * received. For a response, `waitBeforeRetry` decides by the kind of the error.
   */
  transient: boolean;
  authenticated: boolean;
}

/**
 * Executes a prepared call: at most three requests within one deadline (threat E10).
 *
 * If the provider rejects the credential, the credential is refreshed, at most once, and the call is repeated, because
 * the provider did not process it. After a lost connection, a server error or a rate limit, the call is repeated after
 * a wait, but only if nothing was sent or a second effect is impossible (threat E7). In all other cases the caller
 * decides, by `retryable` and `retryAfterMs`.
 *
 * @param startedAt when the execution began, in milliseconds UTC
 * @returns the result or the error, without any secret that was used (threat E5)
 * @throws ApiError if the credential cannot be placed in the request; the errors of `ports`, except a SendFailure
 */
export async function executeTool(
  call: PreparedCall,
  ports: ExecutePorts,
  startedAt: number = ports.now(),
): Promise<ToolOutcome> {
  const secrets: string[] = [];
  const stored = ports.credential();
  let credential = stored instanceof Promise ? await stored : stored;
  let renewed = false;
  let sent = false;
  for (let requests = 1; ; requests++) {
    const timeLeft = RETRY_LIMITS.deadlineMs - (ports.now() - startedAt);
    if (timeLeft <= 0) return lateOutcome(call, sent);
    const { outcome, transient, authenticated } = await attempt(call, credential, ports, secrets, timeLeft);
    if (outcome.ok) return outcome;
    sent ||= outcome.sent;
    const failure = { ...outcome, sent };

    if (outcome.error.kind === 'upstream_auth' && authenticated) {
      const newer = renewed || requests >= RETRY_LIMITS.maxRequests ? null : await ports.refresh();
      if (newer === null) return failure;
      credential = newer;
      renewed = true;
      continue;
    }
    const elapsedMs = ports.now() - startedAt;
    const repeatable = transient && (!outcome.sent || maySendAgain(call));
    const waitMs = waitBeforeRetry(outcome.error, repeatable, { requests, elapsedMs, random: ports.random });
    if (waitMs === undefined) return failure;
    await ports.wait(waitMs);
  }
}

async function attempt(
  call: PreparedCall,
  credential: Credential,
  ports: ExecutePorts,
  secrets: string[],
  timeoutMs: number,
): Promise<Attempt> {
  const own = placeCredential(call.pattern, credential);
  // The credential is removed from the response, even if the request does not contain it.
  const placed = call.withoutCredential ? { parts: [], secrets: own.secrets } : own;
  const signer = credential.kind === 'signer' && !call.withoutCredential ? credential.signer : undefined;
  const request = renderRequest(call, placed);
  // Collects the secrets of all attempts, because the response to a retry can still contain the first credential.
  secrets.push(...request.secrets);
  const authenticated = placed.parts.length > 0 || signer !== undefined;
  const unsigned = outbound(request);
  const ready = signer ? signer.sign(unsigned) : unsigned;
  if (ready !== unsigned) secrets.push(...signedTexts(unsigned, ready));
  try {
    const origins = call.withoutCredential ? [new URL(ready.url).origin] : undefined;
    const response = await ports.send(ready, timeoutMs, origins);
    const hidden = placed.parts.filter((part) => part.in === 'query').map((part) => part.name);
    const reading = ports.read(call, response, secrets, hidden);
    const outcome = reading instanceof Promise ? await reading : reading;
    return { outcome, transient: true, authenticated };
  } catch (error) {
    if (!isSendFailure(error)) throw error;
    const failure = toToolError(call, error, ports.scrubber(secrets));
    const outcome: ToolOutcome = { ok: false, error: failure, sent: error.sent };
    return { outcome, transient: error.kind === 'unreachable', authenticated };
  }
}

/**
 * Returns the error of a call whose deadline passed before its next request.
 *
 * @param sent whether an earlier request may have had an effect
 */
function lateOutcome({ tool }: PreparedCall, sent: boolean): ToolOutcome {
  const kind = KIND_OF_FAILURE.timeout;
  const message = `The call did not finish within ${RETRY_LIMITS.deadlineMs} ms.`;
  return { ok: false, error: { kind, retryable: isRetryable(kind, tool.hints.idempotent || !sent), message }, sent };
}

function outbound({ method, url, headers, body }: RenderedRequest): OutboundRequest {
  return { method, url, headers, body };
}

/**
 * Whether the same request may be sent twice: because the call is idempotent, or because the provider recognizes its
 * idempotency key.
 */
function maySendAgain({ tool, provider }: PreparedCall): boolean {
  return tool.hints.idempotent || provider.api.idempotency_header !== undefined;
}

function toToolError({ tool }: PreparedCall, failure: SendFailure, scrub: Scrub): ToolError {
  const kind = KIND_OF_FAILURE[failure.kind];
  // A caller repeats a call as a new execution with a new idempotency key, so the call itself must be idempotent.
  const retryable = failure.kind !== 'tls' && isRetryable(kind, tool.hints.idempotent || !failure.sent);
  return { kind, retryable, retryAfterMs: failure.retryAfterMs, message: scrub(failure.message) };
}
