import type { EnvironmentId } from '../../../db/store.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import { type AccountInputs, accountInputs, baseUrlOf } from '../../connectors/base-url.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import type { Discovery } from '../../oauth/discovery.ts';
import { issuerOf, type OAuthProvider, oauthProviderOf } from '../../oauth/provider.ts';
import type { FetchFor } from '../../oauth/transport.ts';
import { discoverSmart } from '../../smart-fhir/discovery.ts';
import { smartProviderOf } from '../../smart-fhir/smart-provider.ts';
import type { AuthorizationPlan } from './authorization-client.ts';

export interface ProviderQuestion {
  discovery: Discovery;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * The provider of an authorization, with what it says of itself where its pattern names an issuer, or a record system where it is one.
 *
 * @throws OAuthConfigError when it cannot be asked, or says what must not be believed
 */
export function providerOf(question: ProviderQuestion, plan: AuthorizationPlan): Promise<OAuthProvider> {
  const inputs = accountInputs(plan.pattern, plan.apiConfig);
  if (plan.pattern.type === 'SMART_FHIR') return recordSystemOf(question, plan, inputs);
  return issuerOrPattern(question, plan.pattern, inputs, plan.connection.environmentId);
}

async function issuerOrPattern(
  { discovery, fetchFor }: ProviderQuestion,
  pattern: AuthPattern,
  inputs: AccountInputs,
  partition: EnvironmentId,
): Promise<OAuthProvider> {
  const declared = oauthProviderOf(pattern, inputs);
  const issuer = issuerOf(declared);
  if (issuer === undefined) return declared;
  const found = await discovery.discover({ issuer, partition, fetchFor });
  if (found.ok) return oauthProviderOf(pattern, inputs, found);
  if (found.kind === 'no_metadata' && isComplete(pattern)) return declared;
  throw new OAuthConfigError(found.message);
}

/** Whether a pattern itself says all that metadata could. */
function isComplete({ oauth_config: config = {} }: AuthPattern): boolean {
  return config.authorize_uri !== undefined && config.token_uri !== undefined;
}

/** The base of the provider's API is the FHIR base, which tokens are asked for (SMART App Launch 2.2, `aud`). */
async function recordSystemOf(
  { fetchFor, now }: ProviderQuestion,
  { provider, pattern }: AuthorizationPlan,
  inputs: AccountInputs,
): Promise<OAuthProvider> {
  const fhirBase = baseUrlOf(provider, inputs);
  const found = await discoverSmart({ fhirBase, use: 'launch', fetchFor, now });
  if (!found.ok) throw new OAuthConfigError(found.message);
  return smartProviderOf(pattern, inputs, found.configuration, { fhirBase });
}
