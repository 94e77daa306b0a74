/**
 * Joins scopes for a form field. A separator `+` becomes a space, because form encoding writes a space as a plus sign.
 */
export function joinScopes(scopes: readonly string[], separator: string): string {
  return scopes.join(separator === '+' ? ' ' : separator);
}

/**
 * Returns the scope parameter of a token request; none for an empty list, because some servers reject an empty
 * parameter.
 */
export function scopeParameter(scopes: readonly string[], separator: string): Record<string, string> {
  return scopes.length === 0 ? {} : { scope: joinScopes(scopes, separator) };
}
