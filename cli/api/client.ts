import createClient, { type Client } from 'openapi-fetch';
import type { Secret } from '../../core/secret.ts';
import type { paths } from '../../generated/api.d.ts';
import { UsageError } from '../usage-error.ts';
import { ApiFailure, UnreachableError } from './failures.ts';
import { type ApiSettings, readApiSettings } from './settings.ts';

/** The maximum time until a response begins, in milliseconds. The longest operation, a call of an MCP tool, takes 300 s. */
const TIMEOUT_MS = 310_000;

/** The operations of the contract, called with a token. */
export type Api = Client<paths>;

/** Returns a client for the API of the server that `--server` or the environment variables name. Sends nothing yet. */
export function openApi({ server }: { server?: string | undefined }): Api {
  const settings = readApiSettings(process.env, server);
  const api = createClient<paths>({ baseUrl: settings.origin, fetch: (request) => send(request) });
  let token: Promise<string> | undefined;
  api.use({
    async onRequest({ request }) {
      token ??= accessToken(settings);
      request.headers.set('authorization', `Bearer ${await token}`);
    },
  });
  return api;
}

/** Returns a client for the API of a server that sends no token, for operations that need none. */
export function openPublicApi(origin: string): Api {
  return createClient<paths>({ baseUrl: origin, fetch: (request) => send(request) });
}

/** Waits for a response without a body. @throws ApiFailure if it is not successful */
export async function requireOk(call: Promise<{ error?: unknown; response: Response }>): Promise<void> {
  const { error, response } = await call;
  if (!response.ok) throw new ApiFailure(response.status, error);
}

/** Returns the body of a successful response as it arrives. @throws ApiFailure for any other response */
export async function streamOf(
  call: Promise<{ data?: ReadableStream<Uint8Array> | null; error?: unknown; response: Response }>,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { data, error, response } = await call;
  if (!response.ok || !data) throw new ApiFailure(response.status, error);
  return data as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Returns the body of a successful response. @throws ApiFailure for any other response, UsageError if it is not JSON
 */
export async function resultOf<Body>(
  call: Promise<{ data?: Body; error?: unknown; response: Response }>,
): Promise<NonNullable<Body>> {
  const { data, error, response } = await parsed(call);
  if (!response.ok || data === undefined || data === null) throw new ApiFailure(response.status, error);
  return data;
}

/** Waits for a response whose body is JSON. @throws UsageError if it is not JSON */
export function parsed<Result>(call: Promise<Result>): Promise<Result> {
  return call.catch((thrown: unknown) => {
    throw thrown instanceof SyntaxError ? notValetkey() : thrown;
  });
}

export function notValetkey(): UsageError {
  return new UsageError(
    'VALETKEY_URL or --server does not seem to be the address of a Valetkey server: its response is not one of the API',
  );
}

/**
 * Sends a request. Redirects are not followed, because they could take a credential to another server.
 *
 * @param signal replaces the time limit. Without it, only the time until the response begins is limited, because a body,
 * such as an exported audit log, may be long
 * @throws UnreachableError if the server cannot be reached or does not respond in time; UsageError for a redirect; the
 * abort error if the caller aborted `signal`
 */
export async function send(request: Request, signal?: AbortSignal): Promise<Response> {
  if (signal) return await sent(request, signal);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException('no response in time', 'TimeoutError')), TIMEOUT_MS);
  try {
    return await sent(request, limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function sent(request: Request, signal: AbortSignal): Promise<Response> {
  const { origin } = new URL(request.url);
  const response = await fetch(request, { redirect: 'manual', signal }).catch((error: unknown) => {
    if (signal.aborted && (error as Error).name === 'AbortError') throw error;
    throw new UnreachableError(origin, error);
  });
  if (response.status < 300 || response.status > 399) return response;
  await response.body?.cancel();
  throw new UsageError(
    `the server redirects to ${response.headers.get('location')}; set VALETKEY_URL or --server to its own origin`,
  );
}

/** Returns an access token: the configured one, or a new one for the configured API client. */
export async function accessToken({ origin, credential }: ApiSettings, scope?: string): Promise<string> {
  if ('token' in credential) return credential.token.reveal();
  return (await requestToken(origin, credential, scope)).access_token;
}

/** Requests a token at the OAuth token endpoint. @throws ApiFailure if the server rejects the request */
export async function requestToken(origin: string, { id, secret }: { id: string; secret: Secret }, scope?: string) {
  return await resultOf(
    openPublicApi(origin).POST('/oauth/token', {
      body: {
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret.reveal(),
        ...(scope !== undefined && { scope }),
      },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      bodySerializer: (body) => new URLSearchParams(body as Record<string, string>).toString(),
    }),
  );
}
