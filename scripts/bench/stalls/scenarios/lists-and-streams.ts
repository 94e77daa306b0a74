import { connect } from 'node:net';
import { STORED, THREADS } from '../../../../core/budgets.ts';
import { readConfig } from '../../../../http/config/config.ts';
import { createApplication } from '../../../../wiring/create-application.ts';
import type { Lab, Scenario } from '../scenario.ts';
import { executions, fill, numbers } from './seed-data.ts';

const HOUR = 60 * 60 * 1000;
const THREAD_MIB = THREADS.heapBytes / (1024 * 1024);

/** Stores as many connections as an environment may have. Their settings together have the maximum size. */
async function storeConnections(env: Record<string, string>): Promise<void> {
  const { config, secrets } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const { parts, firstStart } = await createApplication(config, secrets);
  const { connections, connectionsBytes } = STORED;
  const domains = Array.from(
    { length: connectionsBytes / connections / 50 },
    (_, at) => `${at}.${'a'.repeat(40)}.example`,
  );
  for (let from = 0; from < connections; from += 250) {
    await parts.store.write(async (tx) => {
      for (let at = from; at < from + 250; at++) {
        const id = parts.newId('conn');
        const type = { providerKey: 'github', type: 'OAUTH', status: 'DRAFT' as const, verificationMode: 'REQUIRED' };
        const times = { createdAt: at, updatedAt: at };
        await tx.connections.insert(firstStart.environment.id, { id, keyId: id, domains, ...type, ...times });
      }
    });
  }
  await parts.close();
}

const events = (count: number, bytes = 2000) => `${numbers(count)}
  insert into events (seq, id, environment_id, type, subject_id, body, created_at)
  select at, 'evt_' || at, (select id from environments), 'tool.created', 's' || (at % 100),
    '{"id":"evt_' || at || '","object":"event","type":"tool.created","created_at":"2026-01-01T00:00:00Z","data":{"text":"' || hex(zeroblob(${bytes})) || '"}}',
    ${Date.now() - HOUR} from n;`;

/** Deliveries with a last attempt of 2 KB, of which one in 100,000 has failed or is of another type. */
const deliveries = (count: number) => `${numbers(count)}
  insert into webhook_deliveries (id, environment_id, endpoint_id, event_id, event_seq, event_type, subject_id, state, job_id, attempts, next_attempt_at, last_attempt, created_at, updated_at)
  select 'whd_' || lower(hex(randomblob(13))), (select id from environments), 'whk_' || (at % 5), 'evt_' || (at / 5), at / 5,
    case when at % 100000 = 1 then 'tool.deleted' else 'tool.created' end, 's' || (at % 100),
    case when at % 100000 = 2 then 'FAILED' else 'DELIVERED' end, null, 1, null,
    '{"at":1,"url":"' || hex(zeroblob(1000)) || '"}', ${Date.now() - HOUR}, ${Date.now() - HOUR} from n;`;

/** Grants of 1,000 users to three clients of two servers. */
const grants = (count: number) => `${numbers(count)}
  insert into oauth_grants (id, environment_id, client_id, client_name, client_kind, redirect_host, server_id, organization_id, user_id, identifier, scopes, api_client_id, generation, retired_at, created_at, used_at, expires_at)
  select 'grt_' || lower(hex(randomblob(13))), (select id from environments), 'ocl_' || (at % 3), 'Client', 'DYNAMIC', '127.0.0.1',
    'conn_' || (at % 2), '', 'user_' || (at % 1000), 'user_' || at, '["tools:read"]', 'cli_1', 1, '[]',
    ${Date.now() - HOUR}, ${Date.now() - HOUR}, ${Date.now() + 1000 * HOUR} from n;`;

/** A busy month: counts of each hour by tool, outcome and duration. */
const statistics = (tools: number, hours: number) => `${numbers(tools)}
  , h(hour) as (select ${Math.floor((Date.now() - 30 * 24 * HOUR) / HOUR)} union all select hour + 1 from h where hour < ${Math.floor((Date.now() - 30 * 24 * HOUR) / HOUR) + hours - 1})
  insert into execution_statistics (environment_id, hour, connector, tool_name, status, error_kind, up_to_ms, total)
  select (select id from environments), hour, 'c' || (at % 50), 't' || at, 'SUCCEEDED', '', 100, 5 from n, h;`;

/** Measures requests to the API, one after the other. */
function asked(id: string, name: string, seed: NonNullable<Scenario['seed']>, paths: readonly string[]): Scenario {
  return {
    id,
    name,
    seed,
    async play(lab) {
      const statuses: number[] = [];
      for (const path of paths) statuses.push(await lab.status('GET', `/api/v1/${path}`));
      return statuses.join(' ');
    },
  };
}

/** Opens streams of events, and reads none of them. */
function streams(lab: Lab, count: number): () => void {
  const authorization = `Bearer ${lab.token()}`;
  const head = `GET /api/v1/events:stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: evt_1\r\nAuthorization: ${authorization}\r\n\r\n`;
  const sockets = Array.from({ length: count }, () =>
    connect(lab.server.port, '127.0.0.1')
      .on('error', () => {})
      .pause(),
  );
  for (const socket of sockets) socket.write(head);
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

const spec = (operations: number) =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Acme', version: '1' },
    servers: [{ url: 'https://api.acme.example' }],
    paths: Object.fromEntries(
      Array.from({ length: operations }, (_, at) => [
        `/things${at}`,
        {
          get: {
            operationId: `getThing${at}`,
            summary: `Gets thing ${at}`,
            responses: { 200: { description: 'One.' } },
          },
        },
      ]),
    ),
  });

/** Measures a request with a body, after a small one of the same kind. */
function changed(name: string, method: string, path: string, small: () => unknown, large: () => unknown): Scenario {
  return {
    id: 'own',
    name,
    grantedMiB: THREAD_MIB,
    prepare: async (lab) => void (await lab.status(method, path, { body: small() })),
    async play(lab) {
      const { status, body, text } = await lab.call(method, path, { body: large() });
      return `${status} ${body?.code ?? ''} ${text.length} characters`;
    },
  };
}

const imported = (operations: number) => ({
  connector: 'acme',
  base_url: 'https://h0.hostile.example',
  files: [{ name: 'openapi.json', content: spec(operations) }],
});
const endpoint = (more: object) => ({ url: 'https://h0.hostile.example/hook', event_types: ['tool.created'], ...more });

export const LISTS_AND_STREAMS: readonly Scenario[] = [
  asked('F6', 'list of 5,000 connections without a page size', storeConnections, [
    'connections',
    'connections?provider=GITHUB',
  ]),
  asked('F6', 'searches of tools beside 5,000 connections', storeConnections, [
    'tools:scoped?user_id=ada',
    'tools:search?query=create%20an%20issue&user_id=ada',
    'providers',
  ]),
  asked('own', 'statistics of a month with 500 tools in each hour', (env) => fill(env, statistics(500, 720)), [
    `executions:statistics?group_by=hour&from=${new Date(Date.now() - 30 * 24 * HOUR).toISOString()}`,
    `executions:statistics?group_by=tool_name&from=${new Date(Date.now() - 30 * 24 * HOUR).toISOString()}`,
    `executions:statistics?group_by=connector&from=${new Date(Date.now() - 30 * 24 * HOUR).toISOString()}`,
    `executions:statistics?group_by=outcome&from=${new Date(Date.now() - 30 * 24 * HOUR).toISOString()}`,
  ]),
  asked('own', 'lists of 300,000 events', (env) => fill(env, events(300_000, 20)), [
    'events?page_size=100',
    'events?type=tool.created&page_size=100',
    'events?type=tool.deleted&page_size=100',
    'events?subject_id=s1&type=tool.created&page_size=100',
  ]),
  asked('own', 'lists of 300,000 webhook deliveries', (env) => fill(env, deliveries(300_000)), [
    'webhook_deliveries?page_size=100',
    'webhook_deliveries?event_type=tool.deleted&page_size=100',
    'webhook_deliveries?state=FAILED&page_size=100',
    'webhook_deliveries?state=PENDING&event_type=tool.created&page_size=100',
    'webhook_deliveries?endpoint_id=whk_1&page_size=100',
    'webhook_deliveries?endpoint_id=whk_1&state=FAILED&page_size=100',
    'webhook_deliveries?event_id=evt_7&page_size=100',
  ]),
  asked('own', 'lists of 300,000 grants to MCP clients', (env) => fill(env, grants(300_000)), [
    'mcp/grants?page_size=100',
    'mcp/grants?client_id=ocl_1&page_size=100',
    'mcp/grants?client_id=ocl_1&server_id=conn_9&page_size=100',
    'mcp/grants?user_id=user_1&page_size=100',
  ]),
  asked('own', 'lists of 50,000 events of 4 KB', (env) => fill(env, events(50_000)), [
    'events?page_size=100',
    'events?type=tool.created&page_size=100',
    'events?subject_id=s1&page_size=100',
  ]),
  {
    id: 'own',
    name: '100 streams of 50,000 events that do not read',
    seed: (env) => fill(env, events(50_000)),
    grantedMiB: 64,
    async play(lab) {
      const close = streams(lab, 100);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const { status } = await lab.call('GET', '/api/v1/events:stream');
      close();
      return String(status);
    },
  },
  {
    id: 'own',
    name: 'lists of webhook deliveries among 200,000 executions',
    seed: (env) => fill(env, executions(200_000, Date.now() - HOUR)),
    async play(lab) {
      const { body } = await lab.call('POST', '/api/v1/webhook_endpoints', { body: endpoint({}) });
      const path = `/api/v1/webhook_endpoints/${body.webhook_endpoint.id}`;
      const statuses = [
        await lab.status('POST', `${path}:test`),
        await lab.status('GET', `/api/v1/webhook_deliveries?endpoint_id=${body.webhook_endpoint.id}`),
      ];
      return statuses.join(' ');
    },
  },
  {
    id: 'own',
    name: '200 events for 50 webhook endpoints that respond with 1 MiB',
    async prepare(lab) {
      lab.on('/hook', (_req, res) => res.writeHead(500).end(Buffer.alloc(1024 * 1024, 'x')));
      for (let at = 0; at < 50; at++)
        await lab.call('POST', '/api/v1/webhook_endpoints', {
          body: endpoint({ event_types: ['api_client.created'] }),
        });
    },
    async play(lab) {
      const statuses = new Set<number>();
      for (let at = 0; at < 200; at++)
        statuses.add(
          await lab.status('POST', '/api/v1/api_clients', { body: { name: `c${at}`, scopes: ['tools:read'] } }),
        );
      return [...statuses].join();
    },
  },
  changed(
    'preview of an import of 2,000 operations',
    'POST',
    '/api/v1/tools:import',
    () => imported(2),
    () => imported(2_000),
  ),
  changed(
    'webhook endpoint with 250 KB of event types',
    'POST',
    '/api/v1/webhook_endpoints',
    () => ({}),
    () => endpoint({ event_types: Array(12_000).fill('tool.created') }),
  ),
  changed(
    'connection with 250 KB of domains',
    'POST',
    '/api/v1/connections',
    () => ({}),
    () => ({ connector: 'github', domains: Array.from({ length: 15_000 }, (_, at) => `${at}.example`) }),
  ),
  changed(
    'environment with 250 KB of addresses',
    'PUT',
    '/api/v1/environment',
    () => ({}),
    () => ({ user_verify_urls: Array.from({ length: 8_000 }, (_, at) => `https://${at}.example/`) }),
  ),
];
