import { authorizationEndpoint } from '../../core/mcp-login/addresses.ts';
import { OFFLINE_ACCESS } from '../../core/mcp-login/scopes.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import type { Handler } from '../../http/contract.ts';

const METHODS = ['client_secret_basic', 'client_secret_post', 'none'];

/** RFC 8414 §2. The issuer is exactly the base URL of the environment. */
export const getAuthorizationServerMetadata: Handler<'getAuthorizationServerMetadata'> = (call, reply) => {
  const { baseUrl, settings } = call.environment;
  return reply(
    200,
    {
      issuer: baseUrl,
      authorization_endpoint: authorizationEndpoint(call.environment),
      token_endpoint: `${baseUrl}/oauth/token`,
      revocation_endpoint: `${baseUrl}/oauth/revoke`,
      ...(settings.mcpDynamicRegistration !== false && { registration_endpoint: `${baseUrl}/oauth/register` }),
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      // `tools:read` is a scope of the API and of MCP servers, and SCOPES contains it already.
      scopes_supported: [...SCOPES, 'tools:call', OFFLINE_ACCESS],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: METHODS,
      revocation_endpoint_auth_methods_supported: METHODS,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${baseUrl}/docs`,
    },
    { 'cache-control': 'public, max-age=300' },
  );
};
