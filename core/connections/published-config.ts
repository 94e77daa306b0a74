import { isDeepStrictEqual } from 'node:util';
import type { AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import type { CustomProviderDefinition } from './providers.ts';

/**
 * The part of an OAuth configuration that an MCP server has published; members that it did not publish are undefined.
 */
export type PublishedConfig = Pick<
  OAuthConfig,
  'issuer' | 'authorize_uri' | 'token_uri' | 'revocation_uri' | 'resource' | 'available_scopes' | 'client_auth_method'
>;

/**
 * Returns the part of a configuration that an operator has written: all values except those that an MCP server
 * published.
 */
export function operatorConfig({ learned = [], ...config }: OAuthConfig = {}): OAuthConfig {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !learned.includes(name)));
}

/**
 * Returns the authorization server that an MCP server named; undefined if the server named none or was not asked, or if
 * an operator has set the issuer.
 */
export function publishedIssuer({ oauth_config: config }: AuthPattern): string | undefined {
  return config?.learned?.includes('issuer') ? config.issuer : undefined;
}

/**
 * Replaces the values that an MCP server published earlier by the current ones. Values that an operator has written
 * stay.
 */
export function withPublished(pattern: AuthPattern, discovered: PublishedConfig): AuthPattern {
  const byOperator = operatorConfig(pattern.oauth_config);
  const taken = Object.entries(discovered).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(byOperator, name),
  );
  const learned = taken.map(([name]) => name).sort();
  return { ...pattern, oauth_config: { ...byOperator, ...Object.fromEntries(taken), learned } };
}

/**
 * Returns an updated definition in which the values that an MCP server published are marked as published. A value that
 * the request repeats unchanged still counts as published. If the address of the server has changed, its published
 * values are removed.
 */
export function carryPublished(
  before: CustomProviderDefinition,
  after: CustomProviderDefinition,
): CustomProviderDefinition {
  const isSameServer = before.proxy_url === after.proxy_url;
  const auth_patterns = after.auth_patterns.map((pattern) => {
    const was = before.auth_patterns.find(({ type, is_mcp }) => is_mcp && type === pattern.type)?.oauth_config;
    if (!pattern.is_mcp || !was?.learned || !pattern.oauth_config) return pattern;
    const config: Record<string, unknown> = { ...pattern.oauth_config };
    const repeated = was.learned.filter((name) => isDeepStrictEqual(config[name], (was as typeof config)[name]));
    const marked = { ...pattern, oauth_config: { ...config, learned: repeated } as OAuthConfig };
    if (!isSameServer) return { ...pattern, oauth_config: operatorConfig(marked.oauth_config) };
    // The API does not show the resource, so requests cannot repeat it.
    if (!repeated.includes('token_uri')) return marked;
    return withPublished(marked, { ...pick(was, repeated), resource: was.resource });
  });
  return { ...after, auth_patterns };
}

function pick(config: OAuthConfig, names: readonly string[]): PublishedConfig {
  return Object.fromEntries(Object.entries(config).filter(([name]) => names.includes(name)));
}
