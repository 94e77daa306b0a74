import type { ServerResponse } from 'node:http';
import { createEmulator } from 'emulate';
import { EgressPolicy } from '../../core/net/policy.ts';
import type { FetchFor } from '../../core/oauth/transport.ts';
import { startEgress } from '../core/net/local.ts';
import { TestBrowser } from './browser.ts';
import { json, type ReceivedRequest, startUpstream } from './upstream.ts';

export interface EmulatedOAuthOptions {
  service: 'github' | 'google' | 'linear' | 'microsoft' | 'slack';
  /** Data in the emulator's own format. */
  seed: Record<string, unknown>;
  /** The vendor's origins, all of which are directed here. */
  origins: string[];
  /** Maps the vendor's paths to the emulator's where they differ. */
  paths?: Record<string, string>;
  /** The token endpoint (`token`), and the pages for browsers (`open`). Requests to both need no token. */
  token: string;
  open: string[];
  /** The vendor's response to an unknown token. */
  denial?: { status: number; body: unknown };
  /** The revocation endpoints, which the emulator lacks, by method and path. */
  revoke?: Record<string, (request: ReceivedRequest) => { token: string | undefined; status: number; body?: unknown }>;
}

/** An emulated vendor behind a gate that knows the issued tokens, because the emulator itself accepts any token. */
export interface EmulatedOAuth {
  fetchFor: FetchFor;
  /** Selects a user on the vendor's page. @returns the callback address to which the browser is redirected */
  consent(url: string, person: string): Promise<URL>;
  isAlive(accessToken: string): boolean;
  stop(): Promise<void>;
}

export async function startEmulatedOAuth(options: EmulatedOAuthOptions): Promise<EmulatedOAuth> {
  const { service, seed, origins, paths = {}, revoke = {} } = options;
  const emulator = await createEmulator({ service, port: 0, seed: { [service]: seed } } as never);
  const alive = new Set<string>();
  const denial = options.denial ?? { status: 401, body: { error: 'invalid_token' } };

  const gate = await startUpstream(async (request, res) => {
    const [path = '', query] = request.target.split('?');
    const own = revoke[`${request.method} ${path}`]?.(request);
    if (own !== undefined) {
      const wasAlive = own.token !== undefined && alive.delete(own.token);
      return wasAlive ? json(res, own.status, own.body ?? {}) : json(res, denial.status, denial.body);
    }
    const isOpen = path === options.token || options.open.some((open) => path.startsWith(open));
    if (!isOpen && !alive.has(bearerOf(request))) return json(res, denial.status, denial.body);
    const text = await forward(
      `${emulator.url}${paths[path] ?? path}${query === undefined ? '' : `?${query}`}`,
      request,
      res,
    );
    if (path === options.token) for (const token of tokensIn(text)) alive.add(token);
    const revoked = new URLSearchParams(request.body).get('token');
    if (/revoke/.test(path) && revoked !== null) alive.delete(revoked);
  });

  const overrides = origins.map((origin) => ({ origin, target: `http://127.0.0.1:${gate.port}` }));
  const egress = startEgress(new EgressPolicy({ allow: [], overrides }));
  return {
    fetchFor: egress.pinnedFetch,
    async consent(url, person) {
      const hosts = Object.fromEntries(overrides.map(({ origin, target }) => [origin, target]));
      const browser = new TestBrowser({ hosts });
      const page = await browser.open(url);
      const form = page.text.split('<form').find((part) => part.includes(`>${person}<`));
      if (form === undefined) throw new Error(`no form for ${person}: ${page.status} ${page.text.slice(0, 400)}`);
      const action = /action="([^"]+)"/.exec(form)?.[1] ?? '';
      const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const values = Object.fromEntries(fields.map(([, name, value]) => [name, unescaped(value ?? '')]));
      const { location } = await browser.submit(new URL(action, url).href, values);
      if (location === undefined) throw new Error('the vendor led nowhere');
      return new URL(location);
    },
    isAlive: (token) => alive.has(token),
    async stop() {
      await gate.stop();
      await emulator.close();
    },
  };
}

async function forward(url: string, { method, headers, body }: ReceivedRequest, res: ServerResponse): Promise<string> {
  const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers;
  const answer = await fetch(url, { method, headers: rest, redirect: 'manual', ...(body !== '' && { body }) });
  const text = await answer.text();
  const { location, 'content-type': type } = Object.fromEntries(answer.headers);
  res.writeHead(answer.status, { ...(type && { 'content-type': type }), ...(location && { location }) }).end(text);
  return text;
}

function bearerOf({ headers }: ReceivedRequest): string {
  return /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? '';
}

function tokensIn(text: string): string[] {
  return [...text.matchAll(/"access_token":"([^"]+)"/g)].map(([, token]) => token ?? '');
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
