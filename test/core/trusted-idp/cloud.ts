import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { type Local, serve } from '../net/local.ts';

export const ROLE = 'arn:aws:iam::123456789012:role/valetkey/warehouse';
export const REGION = 'eu-central-1';

/** The settings of the cloud's administrator: which issuer is trusted, and which accounts may use a role. */
export interface Trust {
  issuer: string;
  audience: string;
  subjects: readonly string[];
  /** The address of the issuer on this machine; by default the issuer itself. */
  reach?: string;
  /** The host in the addresses of the warehouse; by default the host at which it can be reached. */
  warehouseHost?: string;
  /** The cloud's clock, milliseconds UTC. */
  now?: () => number;
}

interface Issued {
  secret: string;
  sessionToken: string;
  /** Milliseconds UTC. */
  ends: number;
}

/** A token service and a data warehouse that verify everything they receive. */
export interface Cloud {
  tokenService: Local;
  warehouse: Local;
  /** Ends all credentials that were issued so far. */
  endCredentials(): void;
  /** Sets the host by which the warehouse is called; null for the host at which it can be reached. */
  reachedAs(host: string | null): void;
  /** The parameters of each call to the token service. */
  readonly assumed: URLSearchParams[];
  /** The content of each call to the warehouse whose signature was valid. */
  readonly asked: { operation: string; input: Record<string, unknown> }[];
}

export async function startCloud(trust: Trust): Promise<Cloud> {
  const issued = new Map<string, Issued>();
  const assumed: URLSearchParams[] = [];
  const asked: Cloud['asked'] = [];
  const now = trust.now ?? Date.now;
  let warehouseHost = trust.warehouseHost ?? null;
  const tokenService = await serve(async (request, response) => {
    response.setHeader('date', new Date(now()).toUTCString());
    const form = new URLSearchParams(await bodyOf(request));
    assumed.push(form);
    if (request.headers.authorization !== undefined) return fail(response, 400, 'SignatureDoesNotMatch');
    try {
      const claims = await verify(form.get('WebIdentityToken') ?? '', trust);
      if (form.get('RoleArn') !== ROLE || !trust.subjects.includes(claims.sub ?? ''))
        return fail(response, 403, 'AccessDenied');
      succeed(
        response,
        issue(issued, now() + Number(form.get('DurationSeconds')) * 1000),
        form.get('RoleSessionName') ?? '',
      );
    } catch (error) {
      fail(response, 400, codeOf(error));
    }
  });
  const warehouse = await serve(async (request, response) => {
    const body = await bodyOf(request);
    const host = warehouseHost ?? String(request.headers.host);
    const refusal = refusalOf({ ...request.headers, host }, request, body, issued, now());
    if (refusal !== undefined) return answer(response, 400, { __type: refusal, message: 'The call is refused.' });
    const operation = String(request.headers['x-amz-target']).replace('RedshiftData.', '');
    const input = JSON.parse(body) as Record<string, unknown>;
    asked.push({ operation, input });
    const result = run(operation, input);
    answer(response, '__type' in result ? 400 : 200, result);
  });
  const endCredentials = () => {
    for (const credentials of issued.values()) credentials.ends = 0;
  };
  const reachedAs = (host: string | null) => {
    warehouseHost = host;
  };
  return { tokenService, warehouse, assumed, asked, endCredentials, reachedAs };
}

/** Finds the issuer's keys as a cloud does: over HTTP, from its discovery document. */
async function verify(token: string, trust: Trust): Promise<JWTPayload> {
  const reached = (address: string) => address.replace(trust.issuer, trust.reach ?? trust.issuer);
  const discovery = await fetch(reached(`${trust.issuer}/.well-known/openid-configuration`));
  const { issuer, jwks_uri } = (await discovery.json()) as { issuer: string; jwks_uri: string };
  if (issuer !== trust.issuer) throw new Error('another issuer');
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(reached(jwks_uri))), {
    typ: 'JWT',
    currentDate: new Date(trust.now?.() ?? Date.now()),
    issuer: trust.issuer,
    audience: trust.audience,
    algorithms: ['RS256', 'ES256'],
    requiredClaims: ['iss', 'aud', 'sub', 'iat', 'exp'],
    maxTokenAge: 3600,
    clockTolerance: 60,
  });
  return payload;
}

function codeOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'ExpiredTokenException';
  return error instanceof errors.JOSEError ? 'InvalidIdentityToken' : 'IDPCommunicationError';
}

function issue(issued: Map<string, Issued>, ends: number): Issued & { accessKeyId: string } {
  const accessKeyId = `ASIA${randomBytes(8).toString('hex').toUpperCase()}`;
  const credentials = {
    secret: randomBytes(30).toString('base64'),
    sessionToken: randomBytes(300).toString('base64'),
    ends,
  };
  issued.set(accessKeyId, credentials);
  return { accessKeyId, ...credentials };
}

function succeed(response: ServerResponse, credentials: Issued & { accessKeyId: string }, session: string): void {
  response
    .writeHead(200, { 'content-type': 'text/xml' })
    .end(`<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <Audience>someone</Audience>
    <AssumedRoleUser>
      <AssumedRoleId>AROAEXAMPLE:${session}</AssumedRoleId>
      <Arn>arn:aws:sts::123456789012:assumed-role/warehouse/${session}</Arn>
    </AssumedRoleUser>
    <Credentials>
      <AccessKeyId>${credentials.accessKeyId}</AccessKeyId>
      <SecretAccessKey>${credentials.secret}</SecretAccessKey>
      <SessionToken>${credentials.sessionToken}</SessionToken>
      <Expiration>${new Date(credentials.ends).toISOString().replace(/\.\d{3}/, '')}</Expiration>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>`);
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' }).end(`<?xml version="1.0" encoding="UTF-8"?>
<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <Error><Type>Sender</Type><Code>${code}</Code><Message>It is &lt;refused&gt; &amp; not explained</Message></Error>
  <RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId>
</ErrorResponse>`);
}

/**
 * Checks the signature of a request, which it computes again with code that is separate from the server's.
 *
 * @returns the error code of a request that is rejected; undefined if the signature is valid
 */
function refusalOf(
  headers: IncomingHttpHeaders,
  request: IncomingMessage,
  body: string,
  issued: ReadonlyMap<string, Issued>,
  now: number,
): string | undefined {
  const { authorization = '', 'x-amz-date': time = '', 'x-amz-security-token': token } = headers;
  const match =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (!match) return 'MissingAuthenticationTokenException';
  const [, id = '', date = '', region = '', service = '', names = '', signature] = match;
  const known = issued.get(id);
  if (known === undefined || token !== known.sessionToken) return 'UnrecognizedClientException';
  if (known.ends <= now) return 'ExpiredTokenException';
  const text = String(time);
  const at = Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(now - at) < 300_000) || !text.startsWith(date)) return 'InvalidSignatureException';
  if (region !== REGION || service !== 'redshift-data') return 'InvalidSignatureException';
  const mustBeSigned = ['content-type', 'host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target'];
  if (!mustBeSigned.every((name) => names.split(';').includes(name))) return 'InvalidSignatureException';
  const sha = (value: string) => createHash('sha256').update(value).digest('hex');
  const mac = (key: Buffer | string, value: string) => createHmac('sha256', key).update(value).digest();
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = `${request.method}\n${request.url}\n\n${lines.join('')}\n${names}\n${sha(body)}`;
  const toSign = `AWS4-HMAC-SHA256\n${text}\n${date}/${region}/${service}/aws4_request\n${sha(canonical)}`;
  const key = mac(mac(mac(mac(`AWS4${known.secret}`, date), region), service), 'aws4_request');
  return mac(key, toSign).toString('hex') === signature ? undefined : 'InvalidSignatureException';
}

/** Runs one statement, which ends before its result is requested. */
function run(operation: string, input: Record<string, unknown>): Record<string, unknown> {
  const invalid = (message: string) => ({ __type: 'com.amazonaws.redshiftdata#ValidationException', Message: message });
  if (operation === 'ExecuteStatement') {
    const { ClusterIdentifier: cluster, DbUser: user, WorkgroupName: workgroup, Database: database, Sql: sql } = input;
    if (!database || !sql || Boolean(cluster) === Boolean(workgroup)) return invalid('Name a cluster or a workgroup.');
    if (cluster && !user) return invalid('A cluster needs a database user.');
    if (workgroup && user) return invalid('A workgroup takes no database user.');
    return { Id: 'statement-1', CreatedAt: 1_750_000_000.5, Database: database };
  }
  if (operation.startsWith('List'))
    return { Databases: ['dev', 'sales'], NextToken: input['NextToken'] ? '' : 'page-2' };
  if (input['Id'] !== 'statement-1') {
    return { __type: 'ResourceNotFoundException', Message: 'There is no such statement.' };
  }
  if (operation === 'DescribeStatement')
    return { Id: 'statement-1', Status: 'FINISHED', HasResultSet: true, ResultRows: 1 };
  return {
    ColumnMetadata: [
      { name: 'user', typeName: 'varchar' },
      { name: 'seen', typeName: 'int8' },
    ],
    Records: [[{ stringValue: 'maria' }, { longValue: BIG }]],
    TotalNumRows: 1,
  };
}

/** A placeholder that responses replace by a 64-bit number, which a double cannot represent. */
const BIG = '«9007199254740993»';

function answer(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body).replace(`"${BIG}"`, BIG.slice(1, -1));
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat((await request.toArray()) as Buffer[]).toString();
}
