import {
  type BenchRequest,
  executeTool,
  type McpSubject,
  mcpCall2025,
  mcpCall2026,
  mcpSubject,
  rawCall,
} from './calls.ts';
import { newAccount, UPSTREAM_ORIGIN } from './operations.ts';

const CLIENT = { id: 'bench-client', secret: 'vks_bench-client-secret-0123456789' };
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const GRANT = `grant_type=client_credentials&client_id=${CLIENT.id}&client_secret=${CLIENT.secret}`;

/** The data that requests to one server need: ids of accounts, an MCP token of their user, and an access token. */
export interface Subject extends McpSubject {
  token: string;
  accounts: string[];
}

export type Build = (subject: Subject, turn: number) => BenchRequest;

const accountOf = ({ accounts }: Subject, turn: number) => accounts[turn % accounts.length] as string;

export const REQUESTS: Record<string, Build> = {
  'get-auth': (subject, turn) => ({
    method: 'GET',
    path: `/api/v1/connected_accounts/auth?id=${accountOf(subject, turn)}`,
  }),
  'get-details': (subject, turn) => ({
    method: 'GET',
    path: `/api/v1/connected_accounts/details?id=${accountOf(subject, turn)}`,
  }),
  list: () => ({ method: 'GET', path: '/api/v1/connected_accounts?page_size=20' }),
  'execute-tool': (subject, turn) => executeTool(accountOf(subject, turn)),
  'mcp-2026': mcpCall2026,
  'mcp-2025': mcpCall2025,
  proxy: (subject, turn) => rawCall(accountOf(subject, turn)),
  token: () => ({ method: 'POST', path: '/oauth/token', type: FORM_TYPE, body: GRANT, anonymous: true }),
};

/** Creates accounts over the API, because two checkouts may differ in everything else, such as their databases. */
export async function prepare(port: number, count = 200): Promise<Subject> {
  const send = async (path: string, headers: Record<string, string>, body: string) => {
    const response = await fetch(`http://localhost:${port}${path}`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
    // biome-ignore lint/suspicious/noExplicitAny: responses of several shapes
    return (await response.json()) as any;
  };
  const { access_token: token } = await send('/oauth/token', { 'content-type': FORM_TYPE }, GRANT);
  const headers = { authorization: `Bearer ${token}`, 'content-type': JSON_TYPE };
  const accounts: string[] = [];
  let connectionId = '';
  for (let number = 0; number < count; number++) {
    const body = JSON.stringify(newAccount(`user-${number}@example.com`));
    const { connected_account: account } = await send('/api/v1/connected_accounts', headers, body);
    accounts.push(account.id);
    connectionId = account.connection_id;
  }
  return { token, accounts, ...(await mcpSubject(port, token, connectionId, newAccount('user-0@example.com'))) };
}

/** Returns the settings of a server that is measured. */
export function environmentOf(folder: string, upstreamPort: number): Record<string, string> {
  return {
    DATA_DIR: folder,
    BASE_URL: 'http://localhost',
    METRICS_PORT: '0',
    VALETKEY_RATE_LIMIT: 'off',
    VALETKEY_CLIENT_ID: CLIENT.id,
    VALETKEY_CLIENT_SECRET: CLIENT.secret,
    VALETKEY_ENDPOINT_OVERRIDES: `${UPSTREAM_ORIGIN}=http://127.0.0.1:${upstreamPort}`,
  };
}
