import type { ConnectionRow } from '../../db/store.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import { isAllowed } from '../connections/allowed-addresses.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { baseUrlOf } from '../connectors/base-url.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import type { Discovery } from '../oauth/discovery.ts';
import { issuerOf, type OAuthProvider, oauthProviderOf } from '../oauth/provider.ts';
import type { UnavailableReason } from '../oauth/refresh-outcome.ts';
import type { FetchFor } from '../oauth/transport.ts';
import { discoverSmart } from '../smart-fhir/discovery.ts';
import { smartProviderOf } from '../smart-fhir/smart-provider.ts';
import { checkSmartEndpoints } from '../smart-fhir/trusted-endpoints.ts';

export interface ProviderRequest {
  discovery: Discovery;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

/** The provider, and the account and connection that its OAuth configuration is needed for. */
export interface ProviderContext {
  provider: ProviderDefinition;
  pattern: AuthPattern;
  /** The account values that are not secret. */
  inputs: AccountInputs;
  connection: Pick<ConnectionRow, 'environmentId' | 'allowedAddresses'>;
  /** Which endpoints are needed: those for a user's consent, or only those for tokens. */
  needs: 'consent' | 'tokens';
}

/** The provider's metadata is needed but cannot be read now, for example because the provider does not respond. */
export class SilentProviderError extends OAuthConfigError {
  readonly reason: UnavailableReason;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, reason: UnavailableReason, retryAfterMs?: number) {
    super(message);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Returns the OAuth configuration of a provider. It includes the provider's metadata if the pattern has an issuer or
 * the provider is a health record system. If only tokens are needed and the pattern contains the token endpoint,
 * metadata is not read.
 *
 * @throws SilentProviderError if the metadata cannot be read now; OAuthConfigError if it cannot be used
 */
export function providerOf(request: ProviderRequest, context: ProviderContext): Promise<OAuthProvider> {
  return isRecordSystem(context.pattern) ? recordSystemOf(request, context) : issuerOrPattern(request, context);
}

/**
 * Returns the origin that determines where a provider's endpoints are: the issuer's, or the record system's. Returns
 * undefined if the pattern contains the token endpoint or has no issuer.
 */
export function endpointsOrigin({ provider, pattern, inputs }: ProviderContext): string | undefined {
  if (pattern.oauth_config?.token_uri !== undefined) return undefined;
  const address = isRecordSystem(pattern) ? baseUrlOf(provider, inputs) : issuerOf(oauthProviderOf(pattern, inputs));
  return address === undefined ? undefined : new URL(address).origin;
}

async function issuerOrPattern(
  { discovery, fetchFor }: ProviderRequest,
  { pattern, inputs, connection, needs }: ProviderContext,
): Promise<OAuthProvider> {
  const declared = oauthProviderOf(pattern, inputs);
  const issuer = issuerOf(declared);
  // To get tokens, the token endpoint in the pattern suffices; metadata is not needed.
  if (issuer === undefined || (needs === 'tokens' && pattern.oauth_config?.token_uri !== undefined)) return declared;
  const found = await discovery.discover({ issuer, partition: connection.environmentId, fetchFor });
  if (found.ok) return oauthProviderOf(pattern, inputs, found);
  if (found.kind === 'no_metadata' && isComplete(pattern)) return declared;
  if (found.kind === 'unavailable') throw new SilentProviderError(found.message, found.reason, found.retryAfterMs);
  throw new OAuthConfigError(found.message);
}

/** Whether a pattern contains the endpoints for consent and for tokens, so that metadata is not required. */
function isComplete({ oauth_config: config = {} }: AuthPattern): boolean {
  return config.authorize_uri !== undefined && config.token_uri !== undefined;
}

/**
 * Reads the OAuth configuration of a health record system. The base address of its API is the FHIR base, which is the
 * audience of its tokens (SMART App Launch 2.2, `aud`).
 */
async function recordSystemOf(request: ProviderRequest, context: ProviderContext): Promise<OAuthProvider> {
  const { fetchFor, now } = request;
  const { provider, pattern, inputs, needs } = context;
  const { token_uri: given, token } = pattern.oauth_config ?? {};
  if (needs === 'tokens' && given !== undefined) {
    const declared = oauthProviderOf(pattern, inputs);
    return { ...declared, config: { ...declared.config, token: { assertion_audience: given, ...token } } };
  }
  const fhirBase = baseUrlOf(provider, inputs);
  const found = await discoverSmart({ fhirBase, use: needs === 'tokens' ? 'backend' : 'launch', fetchFor, now });
  if (!found.ok) throw failureOf(found);
  const { configuration } = found;
  const verdict = await checkSmartEndpoints({ ...trustOf(request, context), fhirBase, configuration });
  if (!verdict.ok) throw failureOf(verdict);
  return smartProviderOf(pattern, inputs, configuration, fhirBase);
}

function trustOf({ discovery, fetchFor }: ProviderRequest, { pattern, inputs, connection }: ProviderContext) {
  return {
    expectedIssuer: issuerOf(oauthProviderOf(pattern, inputs)),
    isListed: (address: string) => isAllowed(address, connection.allowedAddresses ?? []),
    discovery,
    fetchFor,
    partition: connection.environmentId,
  };
}

function failureOf(failure: {
  kind: string;
  message: string;
  reason?: UnavailableReason;
  retryAfterMs?: number | undefined;
}) {
  const { kind, message, reason, retryAfterMs } = failure;
  return kind === 'unavailable' && reason !== undefined
    ? new SilentProviderError(message, reason, retryAfterMs)
    : new OAuthConfigError(message);
}
