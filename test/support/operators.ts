import { request as send } from 'undici';
import type { OperatorRole } from '../../db/store.ts';
import type { TestServer } from './server.ts';

/** Headers that the console sends with the requests that use its cookie. */
export const CONSOLE_HEADERS = { 'sec-fetch-site': 'same-origin', 'valetkey-console': '1' };

export interface ConsoleResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
  body: any;
}

/** Sends a request to a session endpoint of the console, as the console does. */
export async function callConsole(
  { origin }: Pick<TestServer, 'origin'>,
  path: string,
  { body, cookie, method = 'POST', headers = {} }: ConsoleRequest = {},
): Promise<ConsoleResponse> {
  const response = await send(`${origin}/console/session${path}`, {
    method,
    headers: {
      ...(cookie !== undefined && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...CONSOLE_HEADERS,
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.body.text();
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

export interface ConsoleRequest {
  body?: unknown;
  cookie?: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
}

/** Creates a one-time address over the API. @returns its token, and the id of the session */
export async function offer(
  server: Pick<TestServer, 'call'>,
  operator = 'ada',
  role: OperatorRole = 'OWNER',
): Promise<{ id: string; token: string; url: string }> {
  const answer = await server.call('POST', '/api/v1/operator_sessions', { body: { operator, role } });
  if (answer.status !== 201) throw new Error(`no address was created: ${answer.text}`);
  const url: string = answer.body.login_url;
  return { id: answer.body.operator_session.id, url, token: url.slice(url.indexOf('#') + 1) };
}

/** Returns the cookie that a response sets, as a browser sends it. */
export function cookieOf({ headers }: Pick<ConsoleResponse, 'headers'>): string {
  return String([headers['set-cookie']].flat()[0]).split(';')[0] as string;
}

/** Logs an operator in. @returns the id of the session, its cookie and an access token */
export async function logIn(
  server: Pick<TestServer, 'call' | 'origin'>,
  operator = 'ada',
  role: OperatorRole = 'OWNER',
): Promise<{ id: string; cookie: string; accessToken: string }> {
  const { id, token } = await offer(server, operator, role);
  const cookie = cookieOf(await callConsole(server, '', { body: { token } }));
  const { access_token: accessToken } = (await callConsole(server, ':token', { cookie })).body;
  return { id, cookie, accessToken };
}
