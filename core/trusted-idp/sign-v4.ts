import { createHash, createHmac } from 'node:crypto';
import { MASK, type Secret } from '../secret.ts';
import { encodeUnreserved } from '../tools/template.ts';
import type { OutboundRequest } from '../tools/wire.ts';

export interface SigningCredentials {
  accessKeyId: string;
  secretAccessKey: Secret;
  /** null for permanent credentials. */
  sessionToken: Secret | null;
}

/** The region and service that a signature is valid for. */
export interface SigningScope {
  region: string;
  service: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signs a request with AWS Signature Version 4: method, URL, every header and the body. Anyone who has the signed
 * request can send it for some minutes, but not change it.
 *
 * @param request complete except for its signature; header names in lower case
 * @param now milliseconds UTC
 * @returns a new request, with `x-amz-date`, `x-amz-security-token` and `authorization`
 */
export function signRequestV4(
  request: OutboundRequest,
  credentials: SigningCredentials,
  { region, service }: SigningScope,
  now: number,
): OutboundRequest {
  const url = new URL(request.url);
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-date': time,
    ...(credentials.sessionToken && { 'x-amz-security-token': credentials.sessionToken.reveal() }),
  };
  const signed = Object.entries({ ...headers, host: url.host }).sort(byName);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    request.method.toUpperCase(),
    // Signature Version 4 requires a second encoding of the path, which is already encoded in the URL.
    url.pathname.split('/').map(encodeUnreserved).join('/'),
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(request.body ?? ''),
  ].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${credentials.secretAccessKey.reveal()}`,
  );
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex');
  const credential = `${credentials.accessKeyId}/${scope}`;
  headers['authorization'] = `${ALGORITHM} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, url: url.href, headers };
}

/** Returns a preview of the signed request for users. Secrets and values that differ in each call are masked. */
export function previewSignedV4(request: OutboundRequest, { region, service }: SigningScope): OutboundRequest {
  const credential = `${MASK}/${MASK}/${region}/${service}/aws4_request`;
  const signed = Object.keys(request.headers).concat('host', 'x-amz-date', 'x-amz-security-token').sort();
  const headers = {
    ...request.headers,
    'x-amz-date': MASK,
    'x-amz-security-token': MASK,
    authorization: `${ALGORITHM} Credential=${credential}, SignedHeaders=${signed.join(';')}, Signature=${MASK}`,
  };
  return { ...request, url: new URL(request.url).href, headers };
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]): [string, string] => [encodeUnreserved(name), encodeUnreserved(value)])
    .sort((one, other) => byName(one, other) || order(one[1], other[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function byName([one]: [string, string], [other]: [string, string]): number {
  return order(one, other);
}

function order(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
