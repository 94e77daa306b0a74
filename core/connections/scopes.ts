import type { ConnectionRow } from '../../db/store.ts';
import type { AuthPattern, ScopeEntry } from '../connectors/auth-pattern.ts';

/**
 * Returns the scopes that accounts of a connection request: the connection's own, otherwise those that the provider
 * requires.
 */
export function requestedScopes({ scopes }: Pick<ConnectionRow, 'scopes'>, pattern: AuthPattern): string[] {
  if (scopes.length > 0) return scopes;
  const required = (pattern.oauth_config?.available_scopes ?? []).filter((entry) => entry.required);
  return required.map((entry) => entry.scope);
}

/**
 * Returns the requested scopes with their descriptions. A scope that the provider's definition does not describe is
 * described by its name.
 */
export function describedScopes(connection: Pick<ConnectionRow, 'scopes'>, pattern: AuthPattern): ScopeEntry[] {
  const known = pattern.oauth_config?.available_scopes ?? [];
  return requestedScopes(connection, pattern).map(
    (scope) => known.find((entry) => entry.scope === scope) ?? { scope, display_name: scope },
  );
}
