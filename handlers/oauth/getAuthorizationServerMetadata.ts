import { SCOPES } from '../../core/tokens/scopes.ts';
import type { Handler } from '../../http/contract.ts';

/** RFC 8414 §2. The issuer is exactly the base URL of the environment. */
export const getAuthorizationServerMetadata: Handler<'getAuthorizationServerMetadata'> = (call, reply) => {
  const { baseUrl } = call.environment;
  return reply(
    200,
    {
      issuer: baseUrl,
      token_endpoint: `${baseUrl}/oauth/token`,
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      scopes_supported: [...SCOPES],
      // There is no authorization endpoint, so there are no response types.
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      service_documentation: `${baseUrl}/docs`,
    },
    { 'cache-control': 'public, max-age=300' },
  );
};
