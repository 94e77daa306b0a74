/** Every scope of the REST API, for API clients and operators. MCP clients have other scopes (`MCP_SCOPES`). */
export const SCOPES = [
  'accounts:read',
  'accounts:write',
  'credentials:read',
  'connections:read',
  'connections:write',
  'providers:read',
  'providers:write',
  'tools:read',
  'tools:execute',
  'tools:write',
  'proxy',
  'jobs:read',
  'jobs:write',
  'events:read',
  'events:write',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);
const MAX_CHARS = 1024;
const GRAMMAR = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

export function isScope(text: string): text is Scope {
  return KNOWN.has(text);
}

/**
 * Reads a scope parameter (RFC 6749 §3.3): scope names separated by single spaces, case-sensitive.
 *
 * @returns each scope once, in the given order; `null` if the text is malformed or contains an unknown scope
 */
export function parseScope(text: string): Scope[] | null {
  if (text.length > MAX_CHARS || !GRAMMAR.test(text)) return null;
  const tokens = text.split(' ');
  return tokens.every(isScope) ? [...new Set(tokens)] : null;
}
