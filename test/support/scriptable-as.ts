import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { EgressPolicy } from '../../core/net/policy.ts';
import type { FetchFor } from '../../core/oauth/transport.ts';
import { serve, startEgress } from '../core/net/local.ts';

/** The address of the server in tests; the overrides of the egress policy redirect calls to it. */
export const AS = 'https://as.example';
export const API = 'https://api.example';
export const CLIENT_ID = 'client-1.example';
export const CLIENT_SECRET = 'p+w:secret~/=';
export const REDIRECT_URI = 'https://valetkey.example/oauth/callback/conn_1';

/** The behaviour of a vendor's server. Where nothing is set, it follows the standard. It rejects all other requests. */
export interface Behaviour {
  /** Maps standard names to the vendor's, for the parameters of both requests and of the callback. */
  authorize?: {
    names?: Record<string, string>;
    /** Parameters of the standard that the vendor rejects, like every unknown parameter. */
    refuses?: string[];
    /** Parameters that are required with this value. */
    wants?: Record<string, string>;
    pkce?: 'required' | 'refused';
    /** With `known`, any other scope is rejected. */
    scopes?: { separator?: string; parameters?: string[]; known?: string[] };
    /** Only pushed requests are accepted (RFC 9126). */
    pushed?: boolean;
    callback?: { names?: Record<string, string>; extras?: Record<string, string> };
  };
  token?: {
    names?: Record<string, string>;
    refuses?: string[];
    wants?: Record<string, string>;
    headers?: Record<string, string>;
    client?: 'basic' | 'basic_raw' | 'secret_as_user' | 'post' | 'public';
    format?: 'form' | 'json';
    grantTypes?: Record<string, string>;
    /** The vendor's format of a successful response, and of an error. */
    answer?: (issued: Issued) => Answer;
    error?: (code: string) => Answer;
  };
  refresh?: {
    path?: string;
    kind?: 'rotating' | 'static' | 'none';
    wants?: Record<string, string>;
    refuses?: string[];
  };
  /** Other endpoints, by method and path. */
  routes?: Record<string, (request: Received, server: ScriptableAs) => Answer>;
}

export interface Issued {
  access_token: string;
  refresh_token?: string;
  scopes: string[];
}

export interface Answer {
  status?: number;
  /** Sent as JSON if it is an object. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Received {
  method: string;
  /** Path and query, unchanged. */
  target: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

/** The response to a browser: where it is redirected, or why it was rejected. */
export type Consent = { callback: URLSearchParams } | { refused: string };

interface Code {
  redirectUri: string;
  challenge: string | null;
  scopes: string[];
}

class Refusal extends Error {}

const CLIENT_PARAMETERS: Record<string, string[]> = { post: ['client_id', 'client_secret'], public: ['client_id'] };

/** Starts a server on loopback; `closeAll` of test/core/net/local.ts ends it. */
export async function startScriptableAs(behaviour: Behaviour = {}, origins = [AS, API]): Promise<ScriptableAs> {
  const server = new ScriptableAs(behaviour);
  const local = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '', 'http://local');
    const { method = '', headers } = request;
    const body = Buffer.concat(chunks).toString();
    const target = request.url ?? '';
    const answer = server.answer({ method, target, path: url.pathname, query: url.searchParams, headers, body });
    const isText = typeof answer.body === 'string';
    response.writeHead(answer.status ?? 200, {
      'content-type': isText ? 'text/plain' : 'application/json',
      ...answer.headers,
    });
    response.end(isText ? answer.body : answer.body === undefined ? '' : JSON.stringify(answer.body));
  });
  const overrides = origins.map((origin) => ({ origin, target: local.origin }));
  server.fetchFor = startEgress(new EgressPolicy({ allow: [], overrides })).pinnedFetch;
  return server;
}

/**
 * An authorization server that accepts exactly what its script allows: it rejects additional parameters as well as
 * missing ones.
 */
export class ScriptableAs {
  readonly requests: Received[] = [];
  /** How often a browser was redirected here. */
  visits = 0;
  fetchFor: FetchFor = () => Promise.reject(new Error('not started'));
  readonly #behaviour: Behaviour;
  readonly #codes = new Map<string, Code>();
  readonly #pushed = new Map<string, URLSearchParams>();
  /** Maps refresh tokens to the scopes of their grants. */
  readonly #refreshable = new Map<string, string[]>();
  readonly #alive = new Set<string>();

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
  }

  /** All token requests so far. */
  get tokenRequests(): Received[] {
    return this.requests.filter(({ path }) => path === '/token' || path === this.#behaviour.refresh?.path);
  }

  isAlive(token: string): boolean {
    return this.#alive.has(token) || this.#refreshable.has(token);
  }

  /** Invalidates a token. */
  kill(token: string): void {
    this.#alive.delete(token);
    this.#refreshable.delete(token);
  }

  /** Returns the access token of a request; undefined if it is missing or not valid. */
  bearerOf(request: Received): string | undefined {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    return token !== undefined && this.isAlive(token) ? token : undefined;
  }

  /** Returns the response to a browser that opens an address and whose user consents to everything. */
  consent(address: string): Consent {
    const url = new URL(address);
    this.visits++;
    try {
      return { callback: this.#authorize(url) };
    } catch (error) {
      if (error instanceof Refusal) return { refused: error.message };
      throw error;
    }
  }

  answer(request: Received): Answer {
    this.requests.push(request);
    const { method, path } = request;
    const route = this.#behaviour.routes?.[`${method} ${path}`];
    try {
      if (route !== undefined) return route(request, this);
      if (method === 'POST' && path === '/par') return this.#push(request);
      if (method === 'POST' && (path === '/token' || path === this.#behaviour.refresh?.path))
        return this.#token(request);
      return { status: 404, body: { error: 'not_found' } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const shape = this.#behaviour.token?.error ?? ((code) => ({ status: 400, body: { error: code } }));
      return shape(error.message);
    }
  }

  issue(scopes: string[] = [], withRefreshToken = this.#behaviour.refresh?.kind !== 'none'): Issued {
    const access_token = `at-${randomBytes(6).toString('hex')}`;
    this.#alive.add(access_token);
    if (!withRefreshToken) return { access_token, scopes };
    const refresh_token = `rt-${randomBytes(6).toString('hex')}`;
    this.#refreshable.set(refresh_token, scopes);
    return { access_token, refresh_token, scopes };
  }

  #push(request: Received): Answer {
    this.#checkClient(request, new URLSearchParams(request.body));
    const requestUri = `urn:example:${randomBytes(6).toString('hex')}`;
    this.#pushed.set(requestUri, new URLSearchParams(request.body));
    return { status: 201, body: { request_uri: requestUri, expires_in: 60 } };
  }

  #authorize(url: URL): URLSearchParams {
    const { authorize = {} } = this.#behaviour;
    if (url.origin + url.pathname !== `${AS}/authorize`) throw new Refusal('no such page');
    const given = authorize.pushed ? this.#takePushed(url.searchParams) : url.searchParams;
    const { parameters: scopeNames = ['scope'], separator = ' ', known } = authorize.scopes ?? {};
    const parameters = standardNames(
      given,
      authorize.names,
      [
        'response_type',
        'client_id',
        'redirect_uri',
        'state',
        'nonce',
        'resource',
        ...scopeNames,
        ...(authorize.pkce === 'refused' ? [] : ['code_challenge', 'code_challenge_method']),
        ...Object.keys(authorize.wants ?? {}),
      ],
      authorize.refuses,
    );
    const wanted = { response_type: 'code', client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, ...authorize.wants };
    for (const [name, value] of Object.entries(wanted)) {
      if (!authorize.refuses?.includes(name) || authorize.wants?.[name] !== undefined) equal(parameters, name, value);
    }
    const challenge = parameters.get('code_challenge');
    if (authorize.pkce !== 'refused' && parameters.get('code_challenge_method') !== 'S256')
      throw new Refusal('no S256');
    const state = parameters.get('state');
    if (!state) throw new Refusal('no state');
    const scopes = scopeNames.flatMap((name) => {
      const list = parameters.get(name);
      if (list === '') throw new Refusal('an empty scope');
      return list === null ? [] : list.split(separator);
    });
    const unknown = scopes.filter((scope) => !/^[\w:./]+$/.test(scope) || known?.includes(scope) === false);
    if (unknown.length > 0) throw new Refusal(`no such scope: ${unknown}`);
    const code = randomBytes(8).toString('hex');
    this.#codes.set(code, { redirectUri: REDIRECT_URI, challenge, scopes });
    const { names = {}, extras = {} } = authorize.callback ?? {};
    return new URLSearchParams({ [names['code'] ?? 'code']: code, [names['state'] ?? 'state']: state, ...extras });
  }

  #takePushed(parameters: URLSearchParams): URLSearchParams {
    const pushed = this.#pushed.get(parameters.get('request_uri') ?? '');
    if (pushed === undefined || [...parameters.keys()].length !== 2) throw new Refusal('not pushed');
    return pushed;
  }

  #token(request: Received): Answer {
    const { token = {}, refresh = {} } = this.#behaviour;
    const format = token.format ?? 'form';
    const type = request.headers['content-type'] ?? '';
    if (!type.startsWith(format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded')) {
      throw new Refusal('invalid_request');
    }
    for (const [name, value] of Object.entries(token.headers ?? {})) {
      if (request.headers[name] !== value) throw new Refusal('invalid_request');
    }
    const given = new URLSearchParams(format === 'json' ? JSON.parse(request.body) : request.body);
    const clientNames = CLIENT_PARAMETERS[token.client ?? 'basic'] ?? [];
    const isRefresh = request.path === refresh.path || given.has(token.names?.['refresh_token'] ?? 'refresh_token');
    const wants = { ...token.wants, ...(isRefresh && refresh.wants) };
    const refuses = [...(token.refuses ?? []), ...(isRefresh ? (refresh.refuses ?? []) : [])];
    const known = isRefresh ? ['refresh_token'] : ['code', 'redirect_uri', 'code_verifier'];
    const named = ['grant_type', 'resource', ...known, ...clientNames, ...Object.keys(wants)];
    const parameters = standardNames(given, token.names, named, refuses);
    this.#checkClient(request, parameters);
    for (const [name, value] of Object.entries(wants)) equal(parameters, name, value, 'invalid_request');
    const grant = isRefresh ? 'refresh_token' : 'authorization_code';
    if (!refuses.includes('grant_type')) {
      equal(parameters, 'grant_type', token.grantTypes?.[grant] ?? grant, 'unsupported_grant_type');
    }
    if (isRefresh && refresh.path !== undefined && request.path !== refresh.path) throw new Refusal('invalid_request');
    return this.#respond(isRefresh ? this.#renew(parameters) : this.#redeem(parameters));
  }

  #redeem(parameters: URLSearchParams): Issued {
    const text = parameters.get('code') ?? '';
    const code = this.#codes.get(text);
    this.#codes.delete(text);
    if (code === undefined) throw new Refusal('invalid_grant');
    const { token = {} } = this.#behaviour;
    if (!token.refuses?.includes('redirect_uri')) equal(parameters, 'redirect_uri', code.redirectUri, 'invalid_grant');
    const verifier = parameters.get('code_verifier');
    const challenge = verifier === null ? null : createHash('sha256').update(verifier).digest('base64url');
    if (challenge !== code.challenge) throw new Refusal('invalid_grant');
    return this.issue(code.scopes);
  }

  #renew(parameters: URLSearchParams): Issued {
    const token = parameters.get('refresh_token') ?? '';
    const scopes = this.#refreshable.get(token);
    if (scopes === undefined) throw new Refusal('invalid_grant');
    if (this.#behaviour.refresh?.kind === 'static') return this.issue(scopes, false);
    this.#refreshable.delete(token);
    return this.issue(scopes);
  }

  #respond(issued: Issued): Answer {
    const { answer } = this.#behaviour.token ?? {};
    if (answer !== undefined) return answer(issued);
    const { scopes, ...tokens } = issued;
    return { body: { ...tokens, token_type: 'Bearer', expires_in: 3600, scope: scopes.join(' ') } };
  }

  #checkClient({ headers }: Received, parameters: URLSearchParams): void {
    const way = this.#behaviour.token?.client ?? 'basic';
    if (way === 'post' || way === 'public') {
      if (headers.authorization !== undefined) throw new Refusal('invalid_request');
      equal(parameters, 'client_id', CLIENT_ID, 'invalid_client');
      if (way === 'post') equal(parameters, 'client_secret', CLIENT_SECRET, 'invalid_client');
      return;
    }
    const pair = Buffer.from(headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
    if (!expectedPairs(way).includes(pair)) throw new Refusal('invalid_client');
  }
}

function expectedPairs(way: 'basic' | 'basic_raw' | 'secret_as_user'): string[] {
  if (way === 'secret_as_user') return [`${CLIENT_SECRET}:`];
  if (way === 'basic_raw') return [`${CLIENT_ID}:${CLIENT_SECRET}`];
  return [`${CLIENT_ID}:${new URLSearchParams({ s: CLIENT_SECRET }).toString().slice(2)}`];
}

/** Returns the parameters under their standard names. Rejects unknown, repeated and forbidden ones. */
function standardNames(
  given: URLSearchParams,
  names: Record<string, string> = {},
  known: readonly string[] = [],
  refused: readonly string[] = [],
): URLSearchParams {
  const expected = known.filter((name) => !refused.includes(name) || names[name] !== undefined);
  const byVendor = new Map(expected.map((name) => [names[name] ?? name, name]));
  const standard = new URLSearchParams();
  for (const [name, value] of given) {
    const own = byVendor.get(name);
    if (own === undefined || standard.has(own)) throw new Refusal('invalid_request');
    standard.set(own, value);
  }
  return standard;
}

function equal(parameters: URLSearchParams, name: string, value: string, code = 'invalid_request'): void {
  if (parameters.get(name) !== value) throw new Refusal(code);
}
