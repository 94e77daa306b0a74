import { request as send } from 'undici';
import { issueAccessToken } from '../../core/tokens/access-token.ts';
import type { Scope } from '../../core/tokens/scopes.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { readConfig } from '../../http/config/config.ts';
import { createLogger } from '../../http/monitoring/log.ts';
import { startServer } from '../../http/server.ts';
import type { Contract } from '../../http/validation/served-contract.ts';
import { createApplication } from '../../wiring/create-application.ts';
import { initialise } from '../../wiring/initialise.ts';
import type { Overrides } from '../../wiring/overrides.ts';
import type { Parts } from '../../wiring/parts.ts';
import { recordResponse } from './coverage.ts';
import { databaseOfDirectory } from './engine-of-tests.ts';
import { checkEvents } from './events.ts';
import { tempDir } from './temp-dir.ts';

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
  const logs: string[] = [];
  const log = createLogger(config.logLevel, { write: (line) => logs.push(line) });
  const overrides: Overrides = { log, wait: async () => {}, eventSinks: [checkEvents], ...options.overrides };
  if (secrets.databaseUrl) {
    // The other parts are closed with what they are given to.
    const { now, random, newId } = overrides;
    const clock = { ...(now && { now }), ...(random && { random }), ...(newId && { newId }) };
    await initialise(config, secrets, { log, ...clock });
  }
  const { parts: wired } = await createApplication(config, secrets, overrides);
  const answered = wired.onResponse;
  const parts: Parts = {
    ...wired,
    onResponse: (exchange, status) => {
      recordResponse(exchange.operation?.operationId, status);
      answered(exchange, status);
    },
  };
  const server = await startServer(parts, undefined, options.contract);
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
    origin: server.origin,
    dataDir: folder.path,
    logs,
    token,
    call: (method, path, request = {}) => call(server.origin, method, path, { token: token(...SCOPES), ...request }),
    warmUp: server.warmUp,
    stop: () => (stopped ??= server.stop().then(removeData)),
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
