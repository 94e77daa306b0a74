import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { customProvider } from '../connectors/provider.ts';
import { ApiError } from '../errors.ts';

/** The definition of a custom provider, in the format of the contract. */
export interface CustomProviderDefinition {
  display_name: string;
  description: string;
  icon_src: string;
  metadata: Record<string, string>;
  proxy_enabled: boolean;
  proxy_url: string;
  auth_patterns: AuthPattern[];
}

/**
 * Finds a provider by its identifier: a custom provider of the environment, or a built-in connector.
 *
 * @returns undefined if there is none
 */
export async function findProvider(
  read: ReadRepositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  identifier: string,
): Promise<ProviderDefinition | undefined> {
  const builtIn = catalogue.provider(identifier);
  if (builtIn) return builtIn;
  const row = await read.customProviders.get(environmentId, identifier);
  if (!row) return undefined;
  const { version } = row;
  return { ...toProvider(row.identifier, row.definition as unknown as CustomProviderDefinition), version };
}

export function toProvider(identifier: string, definition: CustomProviderDefinition): ProviderDefinition {
  return customProvider({
    identifier,
    displayName: definition.display_name,
    authPatterns: definition.auth_patterns,
    proxyEnabled: definition.proxy_enabled,
    proxyUrl: definition.proxy_url || null,
  });
}

/**
 * Returns the pattern of a provider for a type of connection; undefined if the provider does not offer it, or no longer
 * does.
 */
export function findPattern(provider: ProviderDefinition, type: string): AuthPattern | undefined {
  return provider.authPatterns.find((pattern) => pattern.type === type);
}

/** @throws ApiError UNSUPPORTED_CONNECTION_TYPE */
export function requirePattern(
  provider: ProviderDefinition,
  type: AuthorizationType | string,
  field: string,
): AuthPattern {
  const pattern = findPattern(provider, type);
  if (pattern) return pattern;
  const offered = provider.authPatterns.map((p) => p.type).join(', ');
  const detail = `The provider ${provider.identifier} does not offer the authorization type ${type}.`;
  throw new ApiError('UNSUPPORTED_CONNECTION_TYPE', detail, {
    errors: [{ field, message: `must be one of ${offered}` }],
  });
}
