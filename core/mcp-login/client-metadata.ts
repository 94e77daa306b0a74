import type { ClientAuthMethod } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import { cleanText } from '../mcp/upstream/clean-text.ts';
import { isRecord } from '../tools/pointer.ts';
import { redirectUriProblem } from './redirect-uri.ts';

/** The members of a client's metadata (RFC 7591 §2) that Valetkey uses. */
export interface ClientMetadata {
  name: string;
  redirectUris: string[];
  authMethod: ClientAuthMethod;
  /** Whether the client uses refresh tokens. */
  refreshes: boolean;
}

/** The error codes are those of RFC 7591 §3.2.2. The description is for the client's developer. */
export type ReadClientMetadata =
  | { ok: true; metadata: ClientMetadata }
  | { ok: false; error: 'invalid_redirect_uri' | 'invalid_client_metadata'; description: string };

/**
 * Reads the metadata of a client. Unknown members, and unknown grant types, are ignored, because clients send grant
 * types, scopes and extensions that other servers need. `application_type` is ignored too, because many clients omit
 * it.
 *
 * @param schemes the private-use URI schemes (RFC 8252 §7.1) that the environment accepts in redirect URIs
 * @param methodOf returns the client's authentication method; undefined if it is not supported
 */
export function readClientMetadata(
  body: unknown,
  schemes: readonly string[],
  methodOf: (body: Record<string, unknown>) => ClientAuthMethod | undefined,
): ReadClientMetadata {
  if (!isRecord(body)) return refused('The metadata must be a JSON object');
  const uris: unknown = body['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0) return badUri('redirect_uris must be a list with at least one URI');
  if (uris.length > MCP_LOGIN.redirectUris)
    return badUri(`redirect_uris has more than ${MCP_LOGIN.redirectUris} entries`);
  for (const [index, uri] of uris.entries()) {
    const problem = typeof uri === 'string' ? redirectUriProblem(uri, schemes) : 'is not a string';
    if (problem) return badUri(`redirect_uris, entry ${index + 1}, ${problem}`);
  }
  const name = shownName(body['client_name']);
  if (name === undefined) return refused('client_name must be a string');
  const types: unknown = body['grant_types'];
  if (types !== undefined && !Array.isArray(types)) return refused('grant_types must be a list');
  const authMethod = methodOf(body);
  if (!authMethod) return refused('token_endpoint_auth_method must be none');
  const refreshes = types === undefined || types.includes('refresh_token');
  return { ok: true, metadata: { name, redirectUris: [...new Set(uris as string[])], authMethod, refreshes } };
}

/**
 * Returns a name in one line, truncated, without characters that hide or reorder text. A missing name becomes an empty
 * text.
 *
 * @returns undefined if the name is not a string
 */
export function shownName(name: unknown): string | undefined {
  if (name === undefined) return '';
  if (typeof name !== 'string') return undefined;
  return cleanText(name.slice(0, 10 * MCP_LOGIN.nameChars).replace(/\s+/g, ' '), MCP_LOGIN.nameChars);
}

function badUri(description: string): ReadClientMetadata {
  return { ok: false, error: 'invalid_redirect_uri', description };
}

function refused(description: string): ReadClientMetadata {
  return { ok: false, error: 'invalid_client_metadata', description };
}
