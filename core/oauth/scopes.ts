/**
 * Scopes as the value of a form field. A form writes a space as a plus sign, which is what providers that want a literal one
 * between scopes are after.
 */
export function joinScopes(scopes: readonly string[], separator: string): string {
  return scopes.join(separator === '+' ? ' ' : separator);
}

/** The parameter for a token request; none where there is nothing to ask for, since some servers refuse an empty one. */
export function scopeParameter(scopes: readonly string[], separator: string): Record<string, string> {
  return scopes.length === 0 ? {} : { scope: joinScopes(scopes, separator) };
}
