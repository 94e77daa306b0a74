import type { AuthorizationType } from '../authorization/type.ts';
import { ApiError } from '../errors.ts';
import type { AccountInputs } from './account-value.ts';
import { accountOrigin } from './account-value.ts';
import { baseUrlOf, filled } from './base-url.ts';
import { oauthAddresses } from './oauth-addresses.ts';
import type { ProviderDefinition } from './provider.ts';

/**
 * Returns the origins that a credential of this account may be sent to. They are fixed when the account is connected
 * and are part of its encrypted record, so a later change of the provider's addresses cannot redirect a stored
 * credential.
 *
 * @param type the account's authorization type; if omitted, the endpoints of every pattern of the provider are included
 * @returns distinct origins in text order; addresses whose account value is missing are omitted, because nothing can be
 * sent to them
 */
export function originsOf(provider: ProviderDefinition, inputs: AccountInputs, type?: AuthorizationType): string[] {
  const origins = new Set<string>(provider.api.extra_origins);
  const addresses = [() => baseUrlOf(provider, inputs), ...endpointsOf(provider, inputs, type)];
  for (const address of addresses) {
    const origin = originOrNothing(address);
    if (origin !== undefined) origins.add(origin);
  }
  return [...origins].sort();
}

function endpointsOf(
  provider: ProviderDefinition,
  inputs: AccountInputs,
  type: AuthorizationType | undefined,
): (() => string)[] {
  return provider.authPatterns
    .filter((pattern) => type === undefined || pattern.type === type)
    .flatMap(({ oauth_config: config = {} }) =>
      oauthAddresses(config).map(({ template, originFrom }) => {
        const own = originFrom === undefined ? undefined : accountOrigin(config, originFrom, inputs);
        return () => own ?? filled(template, inputs);
      }),
    );
}

function originOrNothing(address: () => string): string | undefined {
  try {
    return new URL(address()).origin;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
