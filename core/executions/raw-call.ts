import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Selector } from '../accounts/selector.ts';
import { requirePattern } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { baseUrlOf } from '../connectors/base-url.ts';
import type { Credential } from '../connectors/credential.ts';
import { placeCredential } from '../connectors/placement.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { Egress, EgressStream } from '../net/egress.ts';
import { scrub } from '../net/redact.ts';
import { isRetryable, type ToolError } from '../tools/outcome.ts';
import { nameOfPair } from '../tools/pagination.ts';
import { signedTexts } from '../tools/signed-texts.ts';
import { encodeUnreserved } from '../tools/template.ts';
import { RAW_CALL } from '../tools/tool.ts';
import { parsePathTemplate, renderUrl } from '../tools/url.ts';
import { isSendFailure, KIND_OF_FAILURE, type OutboundRequest } from '../tools/wire.ts';
import { accountNotActive } from './next-action.ts';
import { openCredential, withoutToken } from './open-credential.ts';
import { findUsable, inputsOf, type PlanDeps, requireBinding, requireConnection } from './plan.ts';
import { rawRequestHeaders } from './raw-headers.ts';
import type { RunDeps } from './run.ts';
import type { Planned } from './start.ts';

export interface RawRequest {
  method: string;
  /** Percent-encoded, beginning with a slash; appended to the base URL of the provider. */
  path: string;
  /** Percent-encoded, without the question mark. Parameters that contain the credential are replaced. */
  query: string;
  /** As the caller sent them, with names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer | undefined;
}

export interface RawCall extends Planned {
  pattern: AuthPattern;
  /** The URL without the query: the base URL of the provider and the path. */
  address: string;
  request: RawRequest;
}

/** A response whose body is still arriving, and the texts to remove from it. */
export interface RawResponse {
  response: EgressStream;
  secrets: string[];
}

const WHOLE_PATH = parsePathTemplate('{+path}');
/**
 * Visible ASCII characters except `"`, `<` and `>`, which a URL parser percent-encodes in a query, and `#`, which would
 * begin a fragment.
 */
const QUERY = /^[!$-;=?-~]{0,8000}$/;
const READS = ['GET', 'HEAD'];

/**
 * Checks a raw call: whether the account may make raw calls, and whether the path stays below the provider's base URL.
 *
 * @throws ApiError as `findAccount`; ACCOUNT_NOT_ACTIVE, CONNECTION_DISABLED, TOOL_NOT_ALLOWED, VALIDATION_FAILED,
 * PROVIDER_HAS_NO_BASE_URL, INVALID_API_CONFIG; UNSUPPORTED_CONNECTION_TYPE if the provider no longer offers the
 * account's type
 */
export async function planRawCall(
  read: ReadRepositories,
  deps: Pick<PlanDeps, 'catalogue'>,
  environmentId: EnvironmentId,
  selector: Selector,
  request: RawRequest,
): Promise<RawCall> {
  const { account, provider } = await findUsable(read, deps, environmentId, selector);
  const connection = await requireConnection(read, account, RAW_CALL);
  const pattern = requirePattern(provider, account.authorizationType, 'connector');
  requireBinding(account, connection, { provider, pattern });
  const base = baseUrlOf(provider, inputsOf({ generic: true }, pattern, account));
  if (!QUERY.test(request.query))
    throw notSendable('query', 'must be percent-encoded and have at most 8000 characters');
  return { account, connection, provider, ownTool: null, pattern, address: addressOf(base, request.path), request };
}

function addressOf(base: string, path: string): string {
  try {
    return renderUrl(base, WHOLE_PATH, () => path).address;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw notSendable('path', error.errors?.[0]?.message ?? 'is not allowed in a request');
  }
}

function notSendable(field: string, message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', `The ${field} ${message}.`, { errors: [{ field, message }] });
}

/**
 * Makes a raw call: one request, and a second one with a new credential if the response to the first is 401. Redirects
 * are not followed, but returned.
 *
 * @returns the response, whose body is still arriving, or the error of the call and whether it was sent
 * @throws ApiError before anything is sent: ACCOUNT_NOT_ACTIVE without a usable credential, UNSUPPORTED_CONNECTION_TYPE
 * if the credential belongs in the body, and the errors of signing and placing the credential. SERVER_BUSY if a refresh
 * had to wait too long for other refreshes; then at most the request that the provider rejected was sent
 */
export async function runRawCall(
  call: RawCall,
  egress: Egress,
  cause: Cause,
  deps: RunDeps,
): Promise<RawResponse | { error: ToolError; sent: boolean }> {
  const fresh = await deps.ensureFresh(call.account, cause);
  if (fresh.error) return { error: fresh.error, sent: false };
  let { account } = fresh;
  if (account.status !== 'ACTIVE') throw accountNotActive(account, call);
  const secrets: string[] = [];
  const send = async (credential: Credential) => {
    const { outbound, hidden } = rendered(call, credential);
    secrets.push(...hidden);
    return egress.stream({
      ...outbound,
      url: new URL(outbound.url),
      allowedOrigins: account.origins,
      sendTraceContext: call.connection.settings.sendTraceContext,
    });
  };
  const { connection, provider, pattern } = call;
  const open = () => openCredential({ account, connection, provider, pattern }, deps);
  const renew = async () => {
    const refreshed = await deps.refreshNow(account, cause);
    if (refreshed?.status !== 'ACTIVE') return null;
    account = refreshed;
    return open();
  };

  try {
    const credential = open() ?? (await renew());
    if (!credential) throw withoutToken(account, call);
    const response = await send(credential);
    if (response.status !== 401 || credential.kind === 'none') return { response: identityCoded(response), secrets };
    const newer = await renew().catch((error) => {
      response.body.destroy();
      throw error;
    });
    if (newer === null) return { response: identityCoded(response), secrets };
    response.body.destroy();
    return { response: identityCoded(await send(newer)), secrets };
  } catch (error) {
    if (!isSendFailure(error)) throw error;
    const kind = KIND_OF_FAILURE[error.kind];
    const retryable = isRetryable(kind, READS.includes(call.request.method) || !error.sent);
    const message = scrub(error.message, secrets);
    return { error: { kind, retryable, retryAfterMs: error.retryAfterMs, message }, sent: error.sent };
  }
}

/** Rejects a compressed response: secrets could not be found in it, and the request did not ask for compression. */
function identityCoded(response: EgressStream): EgressStream {
  const coding = response.headers['content-encoding'];
  if (coding === undefined || coding === 'identity') return response;
  response.body.destroy();
  throw Object.assign(new Error('The response has a content-encoding that the request did not ask for.'), {
    kind: 'invalid_response',
    sent: true,
  });
}

function rendered(
  { provider, pattern, address, request }: RawCall,
  credential: Credential,
): { outbound: OutboundRequest & { body: Buffer | undefined }; hidden: string[] } {
  const { parts, secrets } = placeCredential(pattern, credential);
  const placed = (where: string) => parts.filter((part) => part.in === where);
  if (placed('body').length > 0) {
    throw new ApiError(
      'UNSUPPORTED_CONNECTION_TYPE',
      'The provider expects the credential in the body, so raw calls are not possible. Use tools.',
    );
  }
  const taken = placed('query').map(({ name }) => name);
  const own = request.query.split('&').filter((pair) => pair !== '' && !taken.includes(nameOfPair(pair)));
  const added = placed('query').map(({ name, value }) => `${encodeUnreserved(name)}=${encodeUnreserved(value)}`);
  const query = [...own, ...added].join('&');
  const outbound = {
    method: request.method,
    url: query === '' ? address : `${address}?${query}`,
    headers: rawRequestHeaders(request.headers, provider.api.headers ?? {}, parts),
    body: request.body,
  };
  if (credential.kind !== 'signer') return { outbound, hidden: secrets };
  const signed = { ...outbound, ...credential.signer.sign(outbound), body: request.body };
  return { outbound: signed, hidden: [...secrets, ...credential.signer.secrets, ...signedTexts(outbound, signed)] };
}
