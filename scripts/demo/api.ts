import type { Narrator } from './narrator.ts';
import { check } from './narrator.ts';

export interface ApiResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads responses of every schema
  body: any;
}

export interface Api {
  /** Sends one request, prints it without its content, and fails the step if the status is not the expected one. */
  call(
    expected: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>;
  /** Reads something without printing it, for repeated requests and confidential data. */
  read(path: string): Promise<ApiResponse['body']>;
  /** Executes a tool and returns the whole response. */
  execute(expected: number, accountId: string, tool: string, input: unknown, more?: object): Promise<ApiResponse>;
}

/** Gets a token with the credentials of an API client. */
export async function getToken(origin: string, client: { id: string; secret: string }): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret };
  const response = await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const answer = (await response.json()) as { access_token: string };
  check(response.status === 200, `the token endpoint returns 200, not ${response.status}`);
  return answer.access_token;
}

export function createApi(origin: string, token: string, narrator: Narrator): Api {
  const api: Api = {
    async read(path) {
      const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
      check(response.status === 200, `GET ${path} returns 200, not ${response.status}`);
      return response.json();
    },
    async call(expected, method, path, body, headers = {}) {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      narrator.say(`${method} ${path} → ${response.status}`);
      check(response.status === expected, `the response is ${expected}`);
      return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null };
    },
    async execute(expected, accountId, tool, input, more = {}) {
      const { headers, ...members } = more as { headers?: Record<string, string> };
      const body = { connected_account_id: accountId, tool_name: tool, tool_input: input, ...members };
      narrator.say(`${tool} ${JSON.stringify(input)}`);
      const answer = await api.call(expected, 'POST', '/api/v1/execute_tool', body, headers);
      const { data, dry_run_request: request, tool_error: error, detail } = answer.body;
      narrator.say(`  ${JSON.stringify(request ?? error ?? data ?? detail)}`);
      return answer;
    },
  };
  return api;
}
