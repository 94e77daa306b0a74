import { OAuthConfigError } from '../oauth/config-error.ts';
import { MASK, type Secret } from '../secret.ts';
import type { OutboundRequest } from '../tools/wire.ts';
import { type Parameter, parameter, readParameters } from './parameters.ts';
import { type SignatureMethod, signatureBaseString, signatureOf } from './signature.ts';

/** A client as registered with a provider: consumer key and consumer secret. */
export interface OAuth1Client {
  key: string;
  secret: Secret;
}

/** Temporary credentials during consent, token credentials afterwards (RFC 5849 §1.1). */
export interface OAuth1Token {
  token: Secret;
  secret: Secret;
}

/**
 * Where the protocol parameters are placed (RFC 5849 §3.5). `body` only applies to form bodies; in other requests they
 * are in the query.
 */
export type ParameterPlacement = 'header' | 'query' | 'body';

/** How a provider's requests are signed. */
export interface SigningRules {
  signatureMethod: SignatureMethod;
  placement: ParameterPlacement;
  /** Sent in the header, but not signed (RFC 5849 §3.5.1). */
  realm?: string;
}

export interface Signing {
  client: OAuth1Client;
  token: OAuth1Token | null;
  rules: SigningRules;
  /** Milliseconds UTC. */
  now: () => number;
  random: (size: number) => Buffer;
}

/** 96 bits as 24 hexadecimal digits. Most providers accept 20 to 30 letters and digits, and no other characters. */
const NONCE_BYTES = 12;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Signs a request (RFC 5849 §3.1): adds the protocol parameters and a signature of method, address, query and form
 * body. Other bodies are not signed. Each call creates a new nonce, so a repeated request must be signed again.
 *
 * @param request the complete request without a signature; header names in lower case
 * @param protocol further protocol parameters: `oauth_callback`, `oauth_verifier`
 * @returns a new request
 * @throws OAuthConfigError if the key itself would be sent over an unencrypted connection (PLAINTEXT, RFC 5849 §3.4.4)
 */
export function signRequest(
  request: OutboundRequest,
  signing: Signing,
  protocol: Readonly<Record<string, string>> = {},
): OutboundRequest {
  const { client, token, rules, now, random } = signing;
  const url = new URL(request.url);
  if (rules.signatureMethod === 'PLAINTEXT' && url.protocol !== 'https:') {
    throw new OAuthConfigError(`PLAINTEXT signatures require https, but the request is for ${url.origin}.`);
  }
  const parameters = Object.entries({
    oauth_consumer_key: client.key,
    ...(token !== null && { oauth_token: token.token.reveal() }),
    oauth_signature_method: rules.signatureMethod,
    oauth_timestamp: String(Math.floor(now() / 1000)),
    oauth_nonce: random(NONCE_BYTES).toString('hex'),
    oauth_version: '1.0',
    ...protocol,
  }).map(([name, value]) => parameter(name, value));
  const baseString = signatureBaseString(request.method, url, [
    ...readParameters(url.search.slice(1)),
    ...(hasForm(request) ? readParameters(String(request.body ?? '')) : []),
    ...parameters,
  ]);
  const secrets = { client: client.secret, token: token?.secret ?? null };
  const signature = parameter('oauth_signature', signatureOf(rules.signatureMethod, baseString, secrets));
  return place(request, url, [...parameters, signature], rules);
}

/** Returns a preview of the signed request for users. Secrets and values that differ in each call are masked. */
export function previewSignedRequest(
  request: OutboundRequest,
  client: Pick<OAuth1Client, 'key'>,
  rules: SigningRules,
): OutboundRequest {
  const parameters: Parameter[] = [
    parameter('oauth_consumer_key', client.key),
    ['oauth_token', MASK],
    ['oauth_signature_method', rules.signatureMethod],
    ['oauth_timestamp', MASK],
    ['oauth_nonce', MASK],
    ['oauth_version', '1.0'],
    ['oauth_signature', MASK],
  ];
  return place(request, new URL(request.url), parameters, rules);
}

function place(
  request: OutboundRequest,
  url: URL,
  parameters: readonly Parameter[],
  { placement, realm }: SigningRules,
): OutboundRequest {
  if (placement === 'header') {
    const quoted = parameters.map(([name, value]) => `${name}="${value}"`);
    const named = realm === undefined ? quoted : [`realm="${realm.replace(/["\\]/g, '\\$&')}"`, ...quoted];
    return { ...request, url: url.href, headers: { ...request.headers, authorization: `OAuth ${named.join(', ')}` } };
  }
  const pairs = parameters.map(([name, value]) => `${name}=${value}`).join('&');
  if (placement === 'body' && hasForm(request)) {
    return { ...request, url: url.href, body: request.body ? `${request.body}&${pairs}` : pairs };
  }
  url.hash = '';
  const query = url.search.length > 1 ? `${url.search}&` : '?';
  return { ...request, url: `${url.origin}${url.pathname}${query}${pairs}` };
}

/** Whether the body is a form; only form bodies are signed (RFC 5849 §3.4.1.3.1). */
function hasForm({ headers, body }: OutboundRequest): boolean {
  return body !== undefined && headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === FORM_TYPE;
}
