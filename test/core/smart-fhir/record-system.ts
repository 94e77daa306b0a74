import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as oidc from 'oidc-provider';
import { EgressPolicy } from '../../../core/net/policy.ts';
import type { FetchFor } from '../../../core/oauth/transport.ts';
import { memoryAdapter } from '../../../scripts/demo/provider-memory.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { serve, startEgress } from '../net/local.ts';

export const HOST = 'https://ehr.example';
export const FHIR_BASE = `${HOST}/fhir/r4`;
export const CALLBACK = 'https://valetkey.example/oauth/callback/conn_1';
export const TOKEN_ENDPOINT = `${HOST}/token`;

const SCOPES = ['openid', 'fhirUser', 'offline_access', 'launch/patient', 'patient/Patient.rs', 'system/Patient.rs'];

/** A record system: a FHIR server with its authorization server, which enforces the rules of SMART on clients. */
export interface RecordSystem {
  fetchFor: FetchFor;
  /** The value of VALETKEY_ENDPOINT_OVERRIDES that directs its host to this server. */
  override: string;
  /** The bodies of the token requests that the record system has received. */
  readonly received: URLSearchParams[];
  /** Opens an address as a browser whose user gives access. @returns the address at which the browser ends */
  consent(address: string): Promise<URL>;
  /** Reads a patient with a token; returns the status of the response. */
  readPatient(id: string, accessToken: string): Promise<number>;
  /** The bodies of the token requests that were sent with `fetchFor`. */
  readonly tokenRequests: URLSearchParams[];
  /** Sends the same token request again. */
  replay(body: URLSearchParams): Promise<{ status: number; error: unknown }>;
}

/** The parts that the tests use of the package, which has few types. */
interface Context {
  oidc?: { route: string; params: Record<string, unknown>; body?: Record<string, string> };
  status: number;
  body: Record<string, unknown>;
}

interface Extensible {
  proxy: boolean;
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{ params: Record<string, string>; prompt: { name: string } }>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}

const { InvalidRequest, InvalidClientAuth } = (
  oidc as unknown as {
    errors: Record<'InvalidRequest' | 'InvalidClientAuth', new (message: string) => Error>;
  }
).errors;

/** Starts a server on loopback; `closeAll` of test/core/net/local.ts ends it. */
export async function startRecordSystem(clients: object[]): Promise<RecordSystem> {
  const provider = new oidc.default(HOST, {
    adapter: memoryAdapter(),
    clientAuthMethods: ['private_key_jwt', 'none'],
    clients,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    enabledJWA: { clientAuthSigningAlgValues: ['RS384', 'ES384'] },
    claims: { openid: ['sub', 'fhirUser'] },
    conformIdTokenClaims: false,
    extraParams: {
      aud(_context: unknown, value: string | undefined) {
        if (value !== FHIR_BASE) throw new InvalidRequest('aud is not this FHIR server');
      },
    },
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, fhirUser: `${FHIR_BASE}/Practitioner/7` }),
    }),
    interactions: { url: () => '/interaction' },
    jwks: { keys: [rsaPair('issuer').privateKey.export({ format: 'jwk' })] },
    pkce: { required: () => true },
    scopes: SCOPES,
    ttl: {
      AccessToken: 300,
      ClientCredentials: 300,
      Grant: 3600,
      IdToken: 300,
      Interaction: 300,
      RefreshToken: 3600,
      Session: 3600,
    },
    // The package itself would also accept the issuer as audience, and any lifetime.
    assertJwtClientAuthClaimsAndHeader(
      _context: unknown,
      claims: { aud: unknown; exp: number },
      header: { kid?: string; typ?: string },
    ) {
      if (claims.aud !== TOKEN_ENDPOINT) throw new InvalidClientAuth('aud is not the token endpoint');
      if (header.typ !== 'JWT') throw new InvalidClientAuth('the assertion does not say that it is a JWT');
      if (claims.exp - Date.now() / 1000 > 300) throw new InvalidClientAuth('the assertion lives too long');
      if (header.kid === undefined) throw new InvalidClientAuth('the key has no name');
    },
  });
  const received: URLSearchParams[] = [];
  const extensible = provider as unknown as Extensible;
  extensible.proxy = true;
  extensible.use(async (context, next) => {
    await next();
    if (context.oidc?.route === 'token') received.push(new URLSearchParams(context.oidc.body));
    if (context.oidc?.route !== 'token' || context.status !== 200) return;
    // If a user selected a patient, the response names the patient.
    const isOfPerson = context.oidc.params['grant_type'] === 'authorization_code';
    if (isOfPerson) Object.assign(context.body, { patient: '42', encounter: 'e-1', need_patient_banner: false });
  });
  const answer = provider.callback();
  const tokenRequests: URLSearchParams[] = [];
  const local = await serve(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', HOST);
    if (pathname === '/fhir/r4/.well-known/smart-configuration') return json(response, 200, CONFIGURATION);
    if (pathname.startsWith('/fhir/r4/Patient/')) return patient(request, response, pathname);
    // The server behaves as behind a proxy that terminates TLS, with its public host name.
    Object.assign(request.headers, { host: new URL(HOST).host, 'x-forwarded-proto': 'https' });
    if (pathname === '/interaction') return giveAccess(request, response);
    answer(request, response);
  });

  async function patient(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const { ClientCredentials } = provider as unknown as {
      ClientCredentials: { find(token: string): Promise<unknown> };
    };
    const known = (await provider.AccessToken.find(token)) ?? (await ClientCredentials.find(token));
    json(response, known !== undefined && pathname.endsWith('/42') ? 200 : 401, {});
  }

  async function giveAccess(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params, prompt } = await extensible.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return extensible.interactionFinished(request, response, { login: { accountId: 'doctor' } });
    }
    const grant = new provider.Grant({ accountId: 'doctor', clientId: params['client_id'] });
    grant.addOIDCScope(params['scope'] ?? '');
    await extensible.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  const egress = startEgress(new EgressPolicy({ allow: [], overrides: [{ origin: HOST, target: local.origin }] }));
  return {
    override: `${HOST}=${local.origin}`,
    received,
    fetchFor: (origins) => {
      const pinned = egress.pinnedFetch(origins);
      return (url, init) => {
        if (String(url) === TOKEN_ENDPOINT) tokenRequests.push(new URLSearchParams(String(init?.body)));
        return pinned(url, init);
      };
    },
    consent: (address) => browse(address, local.origin),
    async readPatient(id, accessToken) {
      const headers = { authorization: `Bearer ${accessToken}` };
      return (await fetch(`${local.origin}/fhir/r4/Patient/${id}`, { headers })).status;
    },
    tokenRequests,
    async replay(body) {
      const response = await fetch(`${local.origin}/token`, { method: 'POST', body });
      return { status: response.status, error: ((await response.json()) as { error?: unknown }).error };
    },
  };
}

const CONFIGURATION = {
  issuer: HOST,
  jwks_uri: `${HOST}/jwks`,
  authorization_endpoint: `${HOST}/auth`,
  token_endpoint: TOKEN_ENDPOINT,
  grant_types_supported: ['authorization_code', 'client_credentials'],
  scopes_supported: SCOPES,
  code_challenge_methods_supported: ['S256'],
  capabilities: ['launch-ehr', 'launch-standalone', 'client-confidential-asymmetric', 'sso-openid-connect'],
};

/** Follows redirects within the record system, with its cookies, until one leads to another origin. */
async function browse(address: string, origin: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = new URL(address);
  for (let hop = 0; hop < 12 && next.origin === HOST; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, accept: 'text/html' };
    const response = await fetch(`${origin}${next.pathname}${next.search}`, { headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`The record system answered ${response.status}: ${await response.text()}`);
    next = new URL(location, next);
  }
  return next;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
