import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Schemas } from '../../http/contract.ts';
import { type TestClock, testClock } from './clock.ts';
import { manualJobs } from './manual-jobs.ts';
import { startTestServer, type TestServer } from './server.ts';
import { type ReceivedRequest, startUpstream, type Upstream, type UpstreamHandler } from './upstream.ts';

export type EndpointResponse = Schemas['WebhookEndpoint'];
export type DeliveryResponse = Schemas['WebhookDelivery'];
export type EventResponse = Schemas['Event'];

/** The verifier of Standard Webhooks, as receivers use it. */
interface Verifier {
  verify(body: string, headers: Record<string, string>): unknown;
}

const { Webhook } = createRequire(import.meta.url)('standardwebhooks') as {
  Webhook: new (secret: string) => Verifier;
};

/** Verifies a delivery as its receiver does. @throws Error for a wrong signature, or a message that is too old */
export function verifyDelivery(secret: string, { body, headers }: ReceivedRequest): EventResponse {
  return new Webhook(secret).verify(body, headers) as EventResponse;
}

/** A server, and a receiver of webhooks that it can reach. */
export interface WebhookWorld {
  server: TestServer;
  clock: TestClock;
  receiver: Upstream;
  url: string;
  /** Creates an endpoint, by default for the receiver and all events. */
  create(input?: Record<string, unknown>): Promise<{ endpoint: EndpointResponse; secret: string }>;
  get(id: string): Promise<EndpointResponse>;
  deliveries(query?: string): Promise<DeliveryResponse[]>;
  events(query?: string): Promise<EventResponse[]>;
  /** Causes the event `environment.updated`. */
  cause(): Promise<void>;
  /** Sends the deliveries that are due. */
  deliver(): Promise<void>;
  /** Returns the requests that the receiver got since the last call. */
  received(): ReceivedRequest[];
  stop(): Promise<void>;
}

export async function webhookWorld(
  handler: UpstreamHandler = (_request, res) => res.writeHead(204).end(),
  { isBackgroundRunning = false } = {},
): Promise<WebhookWorld> {
  const clock = testClock(Date.now());
  const receiver = await startUpstream(handler);
  const server = await startTestServer({
    env: { VALETKEY_EGRESS_ALLOW: `127.0.0.1:${receiver.port}` },
    overrides: { now: clock.now, ...(!isBackgroundRunning && { jobs: manualJobs }) },
  });
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const ok = async (method: string, path: string, body?: unknown, status = 200) => {
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.equal(status);
    return answer.body;
  };
  return {
    server,
    clock,
    receiver,
    url,
    async create(input = {}) {
      const { webhook_endpoint: endpoint, secret } = await ok(
        'POST',
        '/api/v1/webhook_endpoints',
        { url, ...input },
        201,
      );
      return { endpoint, secret };
    },
    get: async (id) => (await ok('GET', `/api/v1/webhook_endpoints/${id}`)).webhook_endpoint,
    deliveries: async (query = '') => (await ok('GET', `/api/v1/webhook_deliveries${query}`)).webhook_deliveries,
    events: async (query = '') => (await ok('GET', `/api/v1/events${query}`)).events,
    cause: async () => void (await ok('PUT', '/api/v1/environment', { link_lifetime_seconds: 600 })),
    deliver: () => server.parts.jobs.runDue(),
    received: () => receiver.requests.splice(0),
    async stop() {
      await server.stop();
      await receiver.stop();
    },
  };
}
