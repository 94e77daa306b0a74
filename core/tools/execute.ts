import { type Credential, placeCredential } from '../connectors/placement.ts';
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

/** The functions that the engine needs from its caller. */
export interface ExecutePorts {
  /**
   * Sends one request under the egress rules, with the account's origins pinned. Fails with a SendFailure.
   *
   * @param timeoutMs what is left of the execution's time
   */
  send(request: OutboundRequest, timeoutMs: number): Promise<UpstreamResponse>;
  /** The account's credential as it is now. */
  credential(): Promise<Credential>;
  /** A newer credential after the provider refused the present one; null when there is none to be had. */
  refresh(): Promise<Credential | null>;
  /** Makes the function that copies a value so that no secret is left in it. */
  scrubber(secrets: readonly string[]): Scrub;
  /**
   * Reads a response without holding up other calls, however large it is. Fails with a SendFailure where it cannot be read.
   *
   * @param secrets every text that must not be in the outcome
   * @param hidden query parameters that carry the credential
   */
  read(
    call: PreparedCall,
    response: UpstreamResponse,
    secrets: readonly string[],
    hidden: readonly string[],
  ): Promise<ToolOutcome>;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
}

interface Attempt {
  outcome: ToolOutcome;
  /** The failure may be temporary: the response says so, or the connection was lost. */
  transient: boolean;
  authenticated: boolean;
}

/**
 * Executes a prepared call: a few requests within one deadline, and one refresh (threat E10).
 *
 * A refused credential is refreshed and the call sent again: the provider did not act on it. A lost connection, a server's error and
 * a limit that was hit are tried again where nothing had left or a second effect is impossible (threat E7), after the time that the
 * provider asks for. Everything else is the caller's decision, who gets `retryable` and `retryAfterMs` for it.
 *
 * @returns the result, or why there is none; free of every secret that was used (threat E5)
 * @throws ApiError when the stored credential cannot be placed (nothing was sent), and what the ports throw
 */
export async function executeTool(call: PreparedCall, ports: ExecutePorts): Promise<ToolOutcome> {
  const secrets: string[] = [];
  const startedAt = ports.now();
  let credential = await ports.credential();
  let renewed = false;
  let sent = false;
  for (let requests = 1; ; requests++) {
    const timeLeft = RETRY_LIMITS.deadlineMs - (ports.now() - startedAt);
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
  const placed = placeCredential(call.pattern, credential);
  const request = renderRequest(call, placed);
  // Grows over the attempts: a late echo of the first credential must not pass either.
  secrets.push(...request.secrets);
  const authenticated = placed.parts.length > 0 || credential.kind === 'signer';
  const unsigned = outbound(request);
  const ready = credential.kind === 'signer' ? credential.signer.sign(unsigned) : unsigned;
  if (ready !== unsigned) secrets.push(...signedTexts(unsigned, ready));
  try {
    const response = await ports.send(ready, timeoutMs);
    const hidden = placed.parts.filter((part) => part.in === 'query').map((part) => part.name);
    const outcome = await ports.read(call, response, secrets, hidden);
    return { outcome, transient: true, authenticated };
  } catch (error) {
    if (!isSendFailure(error)) throw error;
    const failure = toToolError(call, error, ports.scrubber(secrets));
    const outcome: ToolOutcome = { ok: false, error: failure, sent: error.sent };
    return { outcome, transient: error.kind === 'unreachable', authenticated };
  }
}

function outbound({ method, url, headers, body }: RenderedRequest): OutboundRequest {
  return { method, url, headers, body };
}

/** The same bytes may go out twice: by the nature of the call, or because the provider recognises its key. */
function maySendAgain({ tool, provider }: PreparedCall): boolean {
  return tool.hints.idempotent || provider.api.idempotency_header !== undefined;
}

function toToolError({ tool }: PreparedCall, failure: SendFailure, scrub: Scrub): ToolError {
  const kind = KIND_OF_FAILURE[failure.kind];
  // A new execution has a new key, so here only the call's own nature counts.
  const retryable = failure.kind !== 'tls' && isRetryable(kind, tool.hints.idempotent || !failure.sent);
  return { kind, retryable, retryAfterMs: failure.retryAfterMs, message: scrub(failure.message) };
}
