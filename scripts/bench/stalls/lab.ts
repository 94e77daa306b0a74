import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import type { CallOptions, Lab, Party, Reply } from './scenario.ts';
import { startWatched, type WatchedServer } from './watched-server.ts';

const CLIENT = { id: 'stalls-client', secret: 'vks_stalls-client-secret-0123456789' };
/** Host names of the counterpart, because some scenarios need several. */
const HOSTS = Array.from({ length: 8 }, (_, index) => `h${index}.hostile.example`);
const KEPT_CHARS = 4 * 1024 * 1024;
const API_KEY = {
  type: 'API_KEY',
  fields: [{ field_name: 'api_key', label: 'API key', input_type: 'password', required: true }],
};

export interface OpenLab extends Lab {
  close(): Promise<void>;
}

export interface Counterpart {
  port: number;
  handlers: Map<string, (req: IncomingMessage, res: ServerResponse) => void>;
  close(): void;
}

/** Returns the settings of the server: its client, no rate limit, and the hosts of the counterpart. */
export function settings(folder: string, counterpart: Counterpart): Record<string, string> {
  return {
    DATA_DIR: folder,
    BASE_URL: 'http://localhost',
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
    VALETKEY_RATE_LIMIT: 'off',
    VALETKEY_CLIENT_ID: CLIENT.id,
    VALETKEY_CLIENT_SECRET: CLIENT.secret,
    VALETKEY_ENDPOINT_OVERRIDES: HOSTS.map((host) => `https://${host}=http://127.0.0.1:${counterpart.port}`).join(),
  };
}

export async function startCounterpart(): Promise<Counterpart> {
  const handlers: Counterpart['handlers'] = new Map();
  const server = createServer((req, res) => {
    const [, handle] = [...handlers].find(([path]) => req.url?.startsWith(path)) ?? [];
    res.on('error', () => {});
    if (handle) handle(req, res);
    else res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, handlers, close };
}

/** Starts a server and gets an access token. */
export async function openLab(
  port: number,
  env: Record<string, string>,
  counterpart: Counterpart,
  folder: string,
): Promise<OpenLab> {
  counterpart.handlers.clear();
  const server: WatchedServer = await startWatched(port, env, `${folder}/server.log`);
  const origin = `http://localhost:${port}`;
  const agent = new Agent({ connections: 512, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 });
  const token = await login(origin, agent);
  let made = 0;

  function send(method: string, path: string, { body, headers, token: other }: CallOptions = {}) {
    const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const bearer = other === undefined ? token : other;
    return request(`${origin}${path}`, {
      method: method as 'GET',
      dispatcher: agent,
      headers: {
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isRaw ? (body as string | undefined) : JSON.stringify(body),
    });
  }

  const lab: OpenLab = {
    server,
    token: () => token,
    folder,
    async call(method, path, options) {
      const { statusCode: status, body } = await send(method, path, options);
      const text = (await body.text()).slice(0, KEPT_CHARS);
      return { status, text, body: parsed(text) } satisfies Reply;
    },
    async status(method, path, options) {
      const { statusCode, body } = await send(method, path, options);
      await body.dump({ limit: Number.MAX_SAFE_INTEGER }).catch(() => {});
      return statusCode;
    },
    on: (path, handle) => counterpart.handlers.set(path, handle),
    async party({ pattern = API_KEY, path = '', host = HOSTS[0] } = {}) {
      const fields = { display_name: `Hostile ${++made}`, proxy_enabled: true, proxy_url: `https://${host}${path}` };
      const provider = await lab.call('POST', '/api/v1/custom-providers', {
        body: { ...fields, auth_patterns: [pattern] },
      });
      const connector = provider.body.provider.identifier;
      const key = `key-${made}-0123456789abcdef`;
      const field = pattern['type'] === 'BEARER_TOKEN' ? 'token' : 'api_key';
      const details = pattern['type'] === 'NO_AUTH' ? {} : { static_auth: { details: { [field]: key } } };
      const account = await lab.call('POST', '/api/v1/connected_accounts', {
        body: {
          connector,
          user_id: 'ada',
          identifier: 'ada',
          connected_account: { ...(pattern['type'] !== 'NO_AUTH' && { authorization_details: details }) },
        },
      });
      if (account.status !== 201) throw new Error(`no account: ${account.text.slice(0, 500)}`);
      const { id, connection_id: connectionId } = account.body.connected_account;
      return { connector, accountId: id, connectionId, key } satisfies Party;
    },
    execute: (party, tool, input = {}, more = {}) =>
      lab.call('POST', '/api/v1/execute_tool', {
        body: { connected_account_id: party.accountId, tool_name: tool, tool_input: input, ...more },
      }),
    async close() {
      await agent.destroy();
      await server.stop();
    },
  };
  return lab;
}

async function login(origin: string, agent: Agent): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: CLIENT.id, client_secret: CLIENT.secret };
  const { body } = await request(`${origin}/oauth/token`, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
  return ((await body.json()) as { access_token: string }).access_token;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
