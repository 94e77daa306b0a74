import { forgetLinks } from './opened-links.ts';

/** The access token of the operator's session. It is only in memory, and is replaced before it expires. */

export type Role = 'OWNER' | 'EDITOR' | 'VIEWER';

export interface Session {
  id: string;
  operator: string;
  role: Role;
  expiresAt: string;
  scopes: readonly string[];
  environment: { id: string; kind: 'DEVELOPMENT' | 'PRODUCTION'; baseUrl: string; keepsEvents: boolean };
}

interface Held {
  token: string;
  /** When the token is replaced: after 80 % of its lifetime. Milliseconds since the epoch. */
  renewAt: number;
}

let held: Held | undefined;
let current: Session | undefined;
let renewing: Promise<string | undefined> | undefined;
const endedListeners = new Set<() => void>();
const tabs = new BroadcastChannel('valetkey-console');
tabs.onmessage = () => lose();

/** The session that the last token belongs to. */
export function currentSession(): Session | undefined {
  return current;
}

/** Whether the operator's role has a scope. The server enforces it; pages only hide actions that it would reject. */
export function may(scope: string): boolean {
  return current?.scopes.includes(scope) ?? false;
}

/** Calls a function when the session has ended. */
export function onEnd(listener: () => void): void {
  endedListeners.add(listener);
}

/** Returns a valid access token; undefined if the operator is not logged in, or the server returned an error. */
export function accessToken(): Promise<string | undefined> {
  if (held && Date.now() < held.renewAt) return Promise.resolve(held.token);
  renewing ??= renew().finally(() => {
    renewing = undefined;
  });
  return renewing;
}

/** Forgets the token, so that the next request gets a new one. */
export function dropToken(): void {
  held = undefined;
}

/** Exchanges the token of a one-time address for a session. @returns an error text; undefined if it worked */
export async function logIn(token: string): Promise<string | undefined> {
  const response = await post('/console/session', { token });
  if (response.ok) return (await accessToken()) ? undefined : 'The session could not be opened.';
  return ((await response.json()) as { detail?: string }).detail ?? 'The login failed.';
}

/** Returns the host of the company's OpenID provider; null if there is none, or if it could not be requested. */
export async function companyLoginHost(): Promise<string | null> {
  const response = await post('/console/session:options');
  if (!response.ok) return null;
  return ((await response.json()) as { company_login_host: string | null }).company_login_host;
}

/** Begins a login at the company's OpenID provider. @returns an error text; undefined if it was opened */
export async function logInAtCompany(): Promise<string | undefined> {
  const response = await post('/console/session:begin');
  const body = (await response.json()) as { url?: string; detail?: string };
  if (!response.ok || body.url === undefined) return body.detail ?? 'The login failed.';
  location.assign(body.url);
  return undefined;
}

/** Ends the session, here and in other tabs. */
export async function logOut(): Promise<void> {
  await post('/console/session:end');
  forgetLinks();
  tabs.postMessage('ended');
  lose();
}

async function renew(): Promise<string | undefined> {
  const response = await post('/console/session:token');
  if (!response.ok) {
    if (response.status === 401) lose();
    return undefined;
  }
  const body = (await response.json()) as TokenBody;
  held = { token: body.access_token, renewAt: Date.now() + body.expires_in * 800 };
  const { id, operator, role, expires_at: expiresAt } = body.operator_session;
  const { base_url: baseUrl, keep_events: keepsEvents, ...environment } = body.environment;
  current = {
    id,
    operator,
    role,
    expiresAt,
    scopes: body.scopes,
    environment: { ...environment, baseUrl, keepsEvents },
  };
  return held.token;
}

function lose(): void {
  held = undefined;
  const had = current !== undefined;
  current = undefined;
  if (had) for (const listener of endedListeners) listener();
}

function post(path: string, body?: unknown): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { 'valetkey-console': '1', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

interface TokenBody {
  access_token: string;
  expires_in: number;
  scopes: string[];
  operator_session: { id: string; operator: string; role: Role; expires_at: string };
  environment: { id: string; kind: 'DEVELOPMENT' | 'PRODUCTION'; base_url: string; keep_events: boolean };
}
