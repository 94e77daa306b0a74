import type { AccountRow, ConnectionRow } from '../../db/store.ts';
import { isGranted } from '../authorization/roles.ts';
import type { AuthPattern, ScopeEntry } from '../connectors/auth-pattern.ts';

/**
 * Returns the scopes that accounts of a connection request: those that are set for the connection; if none are set,
 * those that the provider's definition marks as required.
 */
export function requestedScopes({ scopes }: Pick<ConnectionRow, 'scopes'>, pattern: AuthPattern): string[] {
  if (scopes.length > 0) return scopes;
  const required = (pattern.oauth_config?.available_scopes ?? []).filter((entry) => entry.required);
  return required.map((entry) => entry.scope);
}

/**
 * Whether links of a connection also request the scopes that an MCP server required of an account. Scopes that an
 * administrator has chosen are a limit: a server cannot exceed it.
 */
export function requestsRequired({ scopes }: Pick<ConnectionRow, 'scopes'>, pattern: AuthPattern): boolean {
  return pattern.is_mcp === true && scopes.length === 0 && isGranted(pattern);
}

/** Returns the scopes that a link of an account requests. */
export function linkScopes(
  connection: Pick<ConnectionRow, 'scopes'>,
  pattern: AuthPattern,
  { requiredScopes }: Pick<AccountRow, 'requiredScopes'>,
): string[] {
  const required = requestsRequired(connection, pattern) ? (requiredScopes ?? []) : [];
  return [...new Set([...requestedScopes(connection, pattern), ...required])];
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
