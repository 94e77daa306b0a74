import type { ConnectionRow, EnvironmentRow } from '../../db/store.ts';
import type { Details } from '../accounts/authorization-details.ts';
import { bindTo, fieldSecrecy } from '../accounts/binding.ts';
import { publicPart, staticFieldsIn } from '../accounts/details.ts';
import type { JsonObject } from '../accounts/merge.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isClientPattern } from '../authorization/roles.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Credential } from '../connectors/credential.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { ApiError } from '../errors.ts';
import type { Egress } from '../net/egress.ts';
import { createScrubber } from '../net/redact.ts';
import { type PreparedCall, prepareCall, type ToolCall } from '../tools/call.ts';
import { executeTool } from '../tools/execute.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import type { Tool } from '../tools/tool.ts';
import { credentialOf } from './credential.ts';
import type { ResponseReader } from './response-reader.ts';

/**
 * Whether a provider accepts a credential. `unknown`: the credential cannot be checked, the provider could not be
 * reached, or its response is inconclusive.
 */
export type CredentialVerdict =
  | { verdict: 'accepted' }
  | { verdict: 'rejected'; reason: string }
  | { verdict: 'unknown'; reason: string };

export interface CheckDeps {
  egressOf(environment: EnvironmentRow): Egress;
  responses: ResponseReader;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  wait(ms: number): Promise<void>;
}

/** Credentials that are not stored yet, and what they are for. */
export interface GivenCredentials {
  provider: ProviderDefinition;
  pattern: AuthPattern;
  connection: Pick<ConnectionRow, 'clientId'>;
  apiConfig: JsonObject;
  details: Details;
}

/**
 * Checks credentials before they are stored. The result is `unknown` if they cannot be checked or the provider fails.
 */
export type CheckCredentials = (environment: EnvironmentRow, given: GivenCredentials) => Promise<CredentialVerdict>;

/**
 * Creates the check of credentials that are not stored yet. The check calls the provider as a tool would: under the
 * egress policy, only at the origins that the credentials would be bound to, and within the same limits of time and
 * memory.
 */
export function createCredentialCheck(deps: CheckDeps): CheckCredentials {
  return async (environment, given) => {
    const { provider, pattern, connection, apiConfig, details } = given;
    const fields = fieldSecrecy(pattern, details);
    const credential = sentAsIs(pattern) ? credentialOf(details, fields, connection.clientId) : null;
    if (!provider.check || !credential || credential.kind === 'none') return NOT_CHECKABLE;
    const account = accountInputs(pattern, apiConfig, staticFieldsIn(publicPart(details, fields)));
    const { origins } = bindTo({ provider, pattern }, apiConfig, details, fields);
    try {
      const call = checkCall({ provider, pattern, account });
      if (!call) return NOT_CHECKABLE;
      return verdictOf(provider, await run(deps, environment, call, credential, origins));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { verdict: 'unknown', reason: reasonOfInvalidRequest(error) };
    }
  };
}

/** Returns why credentials cannot be checked: the error of preparing the request that would check them. */
export function reasonOfInvalidRequest({ message }: ApiError): string {
  return `The credentials cannot be checked, because no valid request can be made: ${message.replace(/\.$/, '')}.`;
}

export const NOT_CHECKABLE = {
  verdict: 'unknown',
  reason: 'The connector has no request with which these credentials can be checked.',
} as const satisfies CredentialVerdict;

/**
 * Whether requests contain a part of the given credentials, for example a key or an access token. False if requests are
 * signed, or if the credentials only serve to obtain tokens.
 */
function sentAsIs(pattern: AuthPattern): boolean {
  const { signing, obtainingOf } = moduleOf(pattern.type);
  return !signing && !isClientPattern(pattern) && (!obtainingOf || moduleOf(pattern.type).placeToken !== undefined);
}

async function run(
  deps: CheckDeps,
  environment: EnvironmentRow,
  call: PreparedCall,
  credential: Credential,
  origins: string[],
): Promise<ToolOutcome> {
  const egress = deps.egressOf(environment);
  const hold = egress.hold();
  try {
    return await executeTool(call, {
      credential: async () => credential,
      refresh: async () => null,
      send({ method, url, headers, body }, timeoutMs) {
        hold.release();
        const sent = { method, url, headers, ...(body !== undefined && { body }) };
        return egress.send({ ...sent, allowedOrigins: origins, timeoutMs, hold, redirects: 'same-origin' });
      },
      read: (page, response, secrets, hidden) => deps.responses.read(environment.id, page, response, secrets, hidden),
      scrubber: createScrubber,
      now: deps.now,
      random: deps.random,
      wait: deps.wait,
    });
  } finally {
    hold.release();
  }
}

/**
 * Returns the call that checks a credential of a provider.
 *
 * @returns undefined if the provider's definition has no check
 * @throws ApiError if the request cannot be built, for example because its address lacks an account value
 */
export function checkCall({ provider, pattern, account }: Pick<ToolCall, 'provider' | 'pattern' | 'account'>) {
  const { check } = provider;
  if (!check) return undefined;
  const tool: Tool = {
    connector: provider.identifier,
    name: CHECK,
    title: CHECK,
    description: '',
    tags: [],
    hints: { read_only: true, destructive: false, idempotent: true, open_world: true },
    scopes: [],
    input_schema: { type: 'object' },
    output_schema: {},
    examples: [],
    request: {
      method: check.method ?? 'GET',
      path: check.path,
      ...(check.query && { query: check.query }),
      ...(check.json !== undefined && { body: { format: 'json', value: check.json } }),
    },
  };
  const checked = { input: {} };
  return prepareCall({ tool, provider, pattern, account, toolInput: {}, checked, executionId: CHECK }, UNUSED);
}

/** The name of the call. No tool has this name, because names of tools begin with the name of their connector. */
const CHECK = 'credential_check';

/** The input of the call is a constant, so it is not validated. */
const UNUSED = {
  check(): never {
    throw new TypeError('The input of a credential check is not checked');
  },
};

/** Returns what the outcome of the check means for the credential. */
export function verdictOf({ displayName, check }: ProviderDefinition, outcome: ToolOutcome): CredentialVerdict {
  if (outcome.ok) return { verdict: 'accepted' };
  const { kind, upstreamStatus, message } = outcome.error;
  const isRejected =
    kind === 'upstream_auth' || (upstreamStatus !== undefined && check?.rejected?.includes(upstreamStatus));
  if (isRejected) return { verdict: 'rejected', reason: `${displayName} did not accept the credentials.` };
  return { verdict: 'unknown', reason: message };
}
