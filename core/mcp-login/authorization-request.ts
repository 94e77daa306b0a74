import type { EnvironmentRow, LoginRequest, ReadRepositories } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { ClientDocuments } from './client-document.ts';
import { findClient } from './clients.ts';
import { isRegistered } from './redirect-uri.ts';
import { serverOfResource } from './resource.ts';
import { OFFLINE_ACCESS, readMcpScopes } from './scopes.ts';

/** The parameters of a query. A repeated parameter is a list. */
export type Parameters = Readonly<Record<string, string | string[] | undefined>>;

/**
 * `refused`: the user sees an error page, because the client or its redirect URI is not valid, or because too many
 * client documents are being fetched (`busy`). `error`: the browser is redirected to the client with an error code of
 * RFC 6749 §4.1.2.1, RFC 8707 §2 or OpenID Connect Core §3.1.2.6.
 */
export type AuthorizationRequestResult =
  | { kind: 'accepted'; request: LoginRequest }
  | { kind: 'refused'; busy?: true; message: string }
  | { kind: 'error'; redirectUri: string; state: string | null; error: string; description: string };

/** S256 (RFC 7636 §4.2): a SHA-256 digest in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Checks an authorization request (OAuth 2.1 §4.1.1). The client and its redirect URI are checked first, because the
 * browser must not be redirected to an address that the client has not registered.
 */
export async function validateAuthorizationRequest(
  read: ReadRepositories,
  documents: ClientDocuments,
  environment: EnvironmentRow,
  parameters: Parameters,
): Promise<AuthorizationRequestResult> {
  const { client_id: clientId, redirect_uri: redirectUri } = parameters;
  if (typeof clientId !== 'string' || clientId === '')
    return refused('The parameter client_id must be given exactly once.');
  if (typeof redirectUri !== 'string') return refused('The parameter redirect_uri must be given exactly once.');
  const found = await findClient(read, documents, environment, clientId);
  if (!found.ok) return { kind: 'refused', ...(found.busy && { busy: true }), message: found.message };
  const { client } = found;
  if (!isRegistered(redirectUri, client.redirectUris))
    return refused('The redirect_uri is not one that this client has registered. Use one of those, or register it.');

  const { state = null } = parameters;
  const error = (code: string, description: string): AuthorizationRequestResult => {
    const shown = typeof state === 'string' && state.length <= MCP_LOGIN.stateChars ? state : null;
    return { kind: 'error', redirectUri, state: shown, error: code, description };
  };
  const twice = Object.entries(parameters).find(([, value]) => Array.isArray(value));
  if (twice) {
    const which = /^[\w.-]{1,40}$/.test(twice[0]) ? `The parameter ${twice[0]}` : 'A parameter';
    return error('invalid_request', `${which} is given more than once`);
  }
  const { response_type, response_mode, code_challenge, code_challenge_method, resource, scope, prompt, request } =
    parameters as Readonly<Record<string, string | undefined>>;
  if (state !== null && state.length > MCP_LOGIN.stateChars)
    return error('invalid_request', `The state must have at most ${MCP_LOGIN.stateChars} characters`);
  if (request !== undefined || parameters['request_uri'] !== undefined)
    return error('request_not_supported', 'Request objects are not supported: send neither request nor request_uri');
  if (response_type !== 'code') return error('unsupported_response_type', 'The response_type must be code');
  if (response_mode !== undefined && response_mode !== 'query')
    return error('invalid_request', 'The only supported response_mode is query');
  if (code_challenge_method !== 'S256' || !CHALLENGE.test(code_challenge ?? ''))
    return error(
      'invalid_request',
      'A code_challenge of 43 base64url characters with the code_challenge_method S256 is required',
    );
  if (prompt?.split(' ').includes('none'))
    return error('login_required', 'The user has to log in, which prompt=none does not allow');
  if (resource === undefined || resource === '')
    return error('invalid_target', 'The parameter resource is required: the URL of an MCP server');
  const server = await serverOfResource(read, environment, resource);
  if (!server) return error('invalid_target', 'The resource is not an MCP server of this authorization server');
  const asked = scope?.split(' ') ?? [];
  return {
    kind: 'accepted',
    request: {
      clientId,
      clientName: client.name,
      clientKind: client.kind,
      serverId: server.id,
      scopes: readMcpScopes(scope),
      redirectUri,
      codeChallenge: code_challenge as string,
      state: state as string | null,
      refreshes: client.refreshes || asked.includes(OFFLINE_ACCESS),
      asksConsent: prompt?.split(' ').includes('consent') ?? false,
    },
  };
}

function refused(message: string): AuthorizationRequestResult {
  return { kind: 'refused', message };
}
