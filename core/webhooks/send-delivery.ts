import type { WebhookAttempt, WebhookEndpointRow } from '../../db/store.ts';
import { WEBHOOKS } from '../budgets.ts';
import type { Egress } from '../net/egress.ts';
import { EgressError } from '../net/egress-error.ts';
import { readRetryAfter } from '../oauth/retry-after.ts';
import type { Digester } from '../vault/digest.ts';
import { signedHeaders } from './signature.ts';

export interface DeliverySendDeps {
  digester: Digester;
  /** Milliseconds UTC. */
  now(): number;
}

/** The result of one attempt. */
export interface SentDelivery {
  attempt: WebhookAttempt;
  isDelivered: boolean;
  /** The endpoint responded with 410 (Gone). */
  isGone: boolean;
  /** The minimum wait that the endpoint requests, in milliseconds. */
  retryAfterMs: number | undefined;
}

const GONE = 410;

/**
 * Sends an event to an endpoint once. Only the status of the response determines success; errors in the rest of the
 * response, for example in its length, are ignored.
 *
 * @param signal aborts the request to the endpoint
 */
export async function sendDelivery(
  { digester, now }: DeliverySendDeps,
  egress: Pick<Egress, 'protocol'>,
  endpoint: WebhookEndpointRow,
  event: { id: string; body: string },
  signal: AbortSignal,
): Promise<SentDelivery> {
  const { url } = endpoint;
  const at = now();
  const started = performance.now();
  const { 'webhook-signature': signature, ...headers } = signedHeaders(digester, endpoint, { ...event, at });
  const seen: { status?: number; retryAfter?: string | undefined } = {};
  let body = Buffer.alloc(0);
  let isCut = false;
  let failure = '';
  try {
    const response = await egress.protocol(url, {
      method: 'POST',
      body: event.body,
      headers: { ...headers, 'webhook-signature': signature, 'content-type': 'application/json' },
      responseType: 'buffer',
      signal,
      context: {
        maxBytes: WEBHOOKS.responseBytes,
        onHead: (status: number, head: Record<string, unknown>) => {
          seen.status = status;
          seen.retryAfter = typeof head['retry-after'] === 'string' ? head['retry-after'] : undefined;
        },
      },
    });
    body = Buffer.from(response.rawBody);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    failure = error.message;
    isCut = seen.status !== undefined;
  }
  const { status = null, retryAfter = null } = seen;
  const isDelivered = status !== null && status >= 200 && status < 300;
  const error = isDelivered ? '' : status === null ? failure : problemOf(status);
  const durationMs = Math.round(performance.now() - started);
  return {
    attempt: { at, durationMs, url, headers, status, ...textOf(body, isCut), error },
    isDelivered,
    isGone: status === GONE,
    retryAfterMs: readRetryAfter(retryAfter, now()),
  };
}

function problemOf(status: number): string {
  if (status >= 300 && status < 400) return `The endpoint returned ${status}. Redirects are not followed.`;
  return `The endpoint returned ${status}.`;
}

function textOf(body: Buffer, isCut: boolean): Pick<WebhookAttempt, 'body' | 'isCut'> {
  const stored = body.subarray(0, WEBHOOKS.storedResponseBytes);
  // Some databases cannot store the character NUL.
  const text = stored.toString('utf8').replaceAll('\0', '\ufffd');
  return { body: text, isCut: isCut || stored.length < body.length };
}
