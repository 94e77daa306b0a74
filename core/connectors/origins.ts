import { ApiError } from '../errors.ts';
import type { AuthorizationType } from './auth-pattern.ts';
import { type AccountInputs, baseUrlOf, filled } from './base-url.ts';
import type { ProviderDefinition } from './provider.ts';

/**
 * The origins that a credential of this account may be sent to. They are fixed when the account is connected and bound
 * into its ciphertext, so a later change of the provider's addresses cannot lead a stored credential elsewhere.
 *
 * @param type the account's authorization type; without it, the endpoints of every pattern of the provider count
 * @returns distinct origins in text order; addresses whose account value is missing are left out, for nothing can be
 *   sent to them
 */
export function originsOf(provider: ProviderDefinition, inputs: AccountInputs, type?: AuthorizationType): string[] {
  const origins = new Set<string>(provider.api.extra_origins);
  const addresses = [
    () => baseUrlOf(provider, inputs),
    ...endpointsOf(provider, type).map((endpoint) => () => filled(endpoint, inputs)),
  ];
  for (const address of addresses) {
    const origin = originOrNothing(address);
    if (origin !== undefined) origins.add(origin);
  }
  return [...origins].sort();
}

function endpointsOf(provider: ProviderDefinition, type: AuthorizationType | undefined): string[] {
  return provider.authPatterns
    .filter((pattern) => type === undefined || pattern.type === type)
    .flatMap(({ oauth_config: oauth = {} }) => [
      oauth.token_uri,
      oauth.revocation_uri,
      oauth.user_info_uri,
      oauth.issuer,
    ])
    .filter((endpoint) => endpoint !== undefined);
}

function originOrNothing(address: () => string): string | undefined {
  try {
    return new URL(address()).origin;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
