import { OAuthConfigError } from '../oauth/config-error.ts';
import { outcomeOfProblem } from '../oauth/problem.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { clockDifference, sendByServerClock, type TimedAttempt } from '../oauth1/server-clock.ts';
import { type Identity, identityClaims, type SignIdentityToken } from './identity-token.ts';
import { type AssumeRoleOutcome, readResponse } from './read-response.ts';

export interface AssumeRoleRequest {
  /** The token service of the role's region. */
  endpoint: URL;
  /** The role, by its ARN. */
  roleArn: string;
  /** The name of the session in the cloud's audit log: 2 to 64 characters of `\w+=,.@-`. */
  sessionName: string;
  /** The lifetime of the credentials: 900 to 43200 seconds, and at most the maximum of the role. */
  durationS: number;
  identity: Identity;
  sign: SignIdentityToken;
  /** Restricted to the origin of the endpoint, with a time limit. */
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
  random: (size: number) => Buffer;
}

const VERSION = '2011-06-15';
const ROLE_ARN = /^arn:aws[a-z-]{0,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;
const SESSION_NAME = /^[\w+=,.@-]{2,64}$/;

/**
 * Exchanges an identity token for temporary credentials of a role (AssumeRoleWithWebIdentity). Only the token
 * authenticates the request. A cloud whose clock differs rejects the token as expired or not yet valid; then the
 * request is repeated with a token for the cloud's time.
 *
 * @returns never the outcome `refused`, because the cloud stores no grant that could end: it evaluates the role's
 * current policy at each request
 * @throws only errors that are bugs, such as a RangeError for an invalid session name
 */
export async function assumeRole(request: AssumeRoleRequest): Promise<AssumeRoleOutcome> {
  try {
    checkRequest(request);
    return unspent(await sendByServerClock((aheadMs) => attempt(request, aheadMs)));
  } catch (error) {
    return unspent(outcomeOfProblem(error));
  }
}

function checkRequest({ roleArn, sessionName, durationS, identity }: AssumeRoleRequest): void {
  if (!ROLE_ARN.test(roleArn))
    throw new OAuthConfigError(
      'The role_arn of the account is not an ARN such as arn:aws:iam::123456789012:role/name.',
      { faultyPart: 'account' },
    );
  if (identity.audience === '')
    throw new OAuthConfigError('The connection has no client_id, which is the audience of its identity tokens.');
  if (!SESSION_NAME.test(sessionName)) throw new RangeError('The session name is invalid.');
  if (!(Number.isInteger(durationS) && durationS >= 900 && durationS <= 43_200)) {
    throw new RangeError('The lifetime of the credentials is out of range.');
  }
}

async function attempt(request: AssumeRoleRequest, aheadMs: number): Promise<TimedAttempt<AssumeRoleOutcome>> {
  const { endpoint, identity, durationS, sign, fetch, now, random } = request;
  const requestedAt = now();
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { accept: 'application/xml', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: VERSION,
      RoleArn: request.roleArn,
      RoleSessionName: request.sessionName,
      DurationSeconds: String(durationS),
      WebIdentityToken: await sign(identityClaims(identity, requestedAt + aheadMs, random)),
    }).toString(),
    redirect: 'manual',
  });
  const outcome = await readResponse(response, { requestedAt, durationS, now: now() });
  if (outcome.ok || outcome.kind === 'unavailable') return { outcome };
  return { outcome, clockDifference: clockDifference(response.headers, now()) };
}

/** Sets `mayBeSpent` to false: a failed request uses up no credential, because another token can be signed. */
function unspent(outcome: AssumeRoleOutcome): AssumeRoleOutcome {
  return !outcome.ok && outcome.kind === 'unavailable' ? { ...outcome, mayBeSpent: false } : outcome;
}
