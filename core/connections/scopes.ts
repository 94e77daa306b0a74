import type { ConnectionRow } from '../../db/store.ts';
import type { AuthPattern, ScopeEntry } from '../connectors/auth-pattern.ts';

/** The scopes that accounts of a connection are asked for: its own, else those that its provider requires. */
export function requestedScopes({ scopes }: Pick<ConnectionRow, 'scopes'>, pattern: AuthPattern): string[] {
  if (scopes.length > 0) return scopes;
  const required = (pattern.oauth_config?.available_scopes ?? []).filter((entry) => entry.required);
  return required.map((entry) => entry.scope);
}

/** The same in words; a scope that the provider's definition does not describe stands for itself. */
export function describedScopes(connection: Pick<ConnectionRow, 'scopes'>, pattern: AuthPattern): ScopeEntry[] {
  const known = pattern.oauth_config?.available_scopes ?? [];
  return requestedScopes(connection, pattern).map(
    (scope) => known.find((entry) => entry.scope === scope) ?? { scope, display_name: scope },
  );
}
