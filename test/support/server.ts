import { request as send } from 'undici';
import { issueAccessToken } from '../../core/tokens/access-token.ts';
import type { Scope } from '../../core/tokens/scopes.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { readConfig } from '../../http/config/config.ts';
import { createLogger } from '../../http/monitoring/log.ts';
import { type RunningServer, startServer } from '../../http/server.ts';
import type { Contract } from '../../http/validation/served-contract.ts';
import { createApplication } from '../../wiring/create-application.ts';
import { initialise } from '../../wiring/initialise.ts';
import type { Overrides } from '../../wiring/overrides.ts';
import type { Parts } from '../../wiring/parts.ts';
import { startBalancer } from './balancer.ts';
import { sharedCatalogue } from './catalogue.ts';
import { recordResponse } from './coverage.ts';
import { checkEvents } from './events.ts';
import { writeMigratedDatabase } from './migrated-database.ts';
import { tempDir } from './temp-dir.ts';
import { databaseOfDirectory, isOnServer } from './test-engine.ts';

export const CLIENT_ID = 'test-client';
export const CLIENT_SECRET = 'vks_test-client-secret-0123456789';

export interface TestRequest {
  /** Sent as JSON unless it is a string or a Buffer. */
  body?: unknown;
  headers?: Record<string, string>;
  /** An access token; null sends none. The default has all scopes. */
  token?: string | null;
}

export interface TestResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
  body: any;
}

export interface TestServer {
  parts: Parts;
  origin: string;
  dataDir: string;
  /** Everything the server has logged, one JSON line per event. */
  logs: string[];
  /** Sends a request; the path may contain a query. */
  call(method: string, path: string, request?: TestRequest): Promise<TestResponse>;
  /** Returns an access token of the test client with exactly these scopes. */
  token(...scopes: Scope[]): string;
  /** Prepares what the first requests would otherwise wait for, as `valetkey serve` does after the start. */
  warmUp(): Promise<void>;
  /** Can be called several times: if a test fails before it stops the server, a hook does so. */
  stop(): Promise<void>;
}

export interface TestServerOptions {
  /** Environment variables with settings. */
  env?: Record<string, string>;
  /** Replaces parts of the server, or wraps them with `wrap`. Other parts that use them get the replacement. */
  overrides?: Overrides;
  /** A contract to use in place of the project's. */
  contract?: Contract;
  /** An existing data directory, which is not deleted afterwards. */
  dataDir?: string;
}

/**
 * Whether each test server is a pair of servers over one database, behind one address, whose requests go to both in
 * turn. `VALETKEY_TEST_SERVERS=2` selects it.
 */
export const IS_PAIR = process.env['VALETKEY_TEST_SERVERS'] === '2' && isOnServer();

/**
 * Starts a real server on a free loopback port, with its own database. Every response is checked against the contract:
 * one that does not match becomes a 500.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.dataDir ? { path: options.dataDir, remove: () => {} } : tempDir();
  const database = databaseOfDirectory(folder.path);
  const { config, secrets } = readConfig({
    PORT: '0',
    BASE_URL: 'http://localhost',
    DATA_DIR: folder.path,
    VALETKEY_RATE_LIMIT: 'off',
    VALETKEY_CHECK_RESPONSES: 'all',
    VALETKEY_CLIENT_ID: CLIENT_ID,
    VALETKEY_CLIENT_SECRET: CLIENT_SECRET,
    ...database.env,
    ...options.env,
  });
  if (!options.dataDir && !secrets.databaseUrl) writeMigratedDatabase(config.databaseFile);
  const logs: string[] = [];
  const log = createLogger(config.logLevel, { write: (line) => logs.push(line) });
  const overrides: Overrides = {
    log,
    wait: async () => {},
    eventSinks: [checkEvents],
    catalogue: sharedCatalogue(),
    ...options.overrides,
  };
  if (secrets.databaseUrl) {
    // The other parts must not be shared, because the first server closes them.
    const { now, random, newId } = overrides;
    const clock = { ...(now && { now }), ...(random && { random }), ...(newId && { newId }) };
    await initialise(config, secrets, { log, ...clock });
  }
  const own = IS_PAIR ? { ...config, port: 0 } : config;
  const start = async () => {
    const { parts: wired } = await createApplication(own, secrets, overrides);
    const answered = wired.onResponse;
    const parts: Parts = {
      ...wired,
      onResponse: (exchange, status) => {
        recordResponse(exchange.operation?.operationId, status);
        answered(exchange, status);
      },
    };
    return { wired, parts, server: await startServer(parts, undefined, options.contract) };
  };
  const { wired, parts, server } = await start();
  const twin = IS_PAIR ? await startTwin(server, start, config.port) : undefined;
  const origin = twin?.origin ?? server.origin;
  const environment = await wired.environmentOf('localhost');
  const token = (...scopes: Scope[]) =>
    issueAccessToken(
      wired.signingKeys.current,
      {
        issuer: environment.baseUrl,
        audience: environment.baseUrl,
        clientId: CLIENT_ID,
        environmentId: environment.id,
        generation: 1,
        scopes,
      },
      wired.now(),
      wired.random,
    );
  let stopped: Promise<void> | undefined;
  const removeData = () => {
    folder.remove();
    if (!options.dataDir) database.remove();
  };
  return {
    parts,
    origin,
    dataDir: folder.path,
    logs,
    token,
    call: (method, path, request = {}) => call(origin, method, path, { token: token(...SCOPES), ...request }),
    warmUp: server.warmUp,
    stop: () => (stopped ??= Promise.all([server.stop(), twin?.stop()]).then(removeData)),
  };
}

/** Starts a second server and one address for both. */
async function startTwin(first: RunningServer, start: () => Promise<{ server: RunningServer }>, port: number) {
  const { server } = await start();
  const ports = [first, server].map(({ origin }) => Number(new URL(origin).port));
  const balancer = await startBalancer(ports, port);
  return {
    origin: balancer.origin,
    async stop() {
      await server.stop();
      await balancer.close();
    },
  };
}

/** A stream of events that GET opens has no end, so it is closed after its head. */
async function textOf(method: string, { headers, body }: Awaited<ReturnType<typeof send>>): Promise<string> {
  if (method !== 'GET' || !String(headers['content-type']).startsWith('text/event-stream')) return body.text();
  body.on('error', () => {}).destroy();
  return '';
}

async function call(origin: string, method: string, path: string, request: TestRequest): Promise<TestResponse> {
  const { body, token } = request;
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const response = await send(`${origin}${path}`, {
    method: method as 'GET',
    // A new connection for each request, so that the requests of a test go to both servers.
    reset: IS_PAIR,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
      ...request.headers,
    },
    body: isRaw ? (body as string) : body === undefined ? null : JSON.stringify(body),
  });
  const text = await textOf(method, response);
  const isJson = /json(?!l)/.test(String(response.headers['content-type']));
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
  };
}
