import { operatorConfig } from '../connections/published-config.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import { directoryOf, isAtOrBelow, plainAddress } from '../connectors/address-scope.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { filled } from '../connectors/base-url.ts';
import { oauthAddresses } from '../connectors/oauth-addresses.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { ApiError } from '../errors.ts';

/** The part of a definition that determines where tokens are renewed and revoked. */
export interface EndpointDefinition {
  provider: Pick<ProviderDefinition, 'isCustom'>;
  pattern: Pick<AuthPattern, 'oauth_config'>;
}

/** `template`: the address before the account's values were inserted. */
interface Directory {
  address: string;
  template: string;
}

/**
 * Returns the URL directories in which a custom provider renews and revokes the tokens of an account. Tokens are bound
 * to these directories, because on a shared host a neighboring directory may belong to another customer. For a built-in
 * connector the list is empty, because only origins are compared. Addresses that an MCP server returned about itself
 * are not included.
 *
 * @returns distinct addresses in text order; addresses whose account value is missing are omitted
 */
export function tokenDirectories(definition: EndpointDefinition, inputs: AccountInputs): string[] {
  return [...new Set(directoriesOf(definition, inputs).map(({ address }) => address))].sort();
}

/** Whether all current endpoints are within the directories that the tokens are bound to. */
export function areEndpointsCovered(
  bound: readonly string[],
  definition: EndpointDefinition,
  inputs: AccountInputs,
): boolean {
  return directoriesOf(definition, inputs).every(({ address, template }) =>
    bound.some((limit) => isAtOrBelow(address, limit, template)),
  );
}

function directoriesOf({ provider, pattern }: EndpointDefinition, inputs: AccountInputs): Directory[] {
  if (!provider.isCustom) return [];
  return oauthAddresses(operatorConfig(pattern.oauth_config)).flatMap(({ path, template }) => {
    const address = filledOrNothing(template, inputs);
    const placed = path === 'issuer' ? plainAddress : directoryOf;
    return address === undefined ? [] : [{ address: placed(address), template: placed(template) }];
  });
}

function filledOrNothing(template: string, inputs: AccountInputs): string | undefined {
  try {
    return filled(template, inputs);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
