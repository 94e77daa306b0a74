import type { components } from '../../../../generated/api.d.ts';
import { fields } from '../../../output/table.ts';

/** Formats the login provider of an environment for people. */
export function describeProvider(provider: components['schemas']['McpLoginProvider']): string {
  const { claims, oidc, jwt } = provider;
  return fields({
    Type: provider.type,
    Issuer: provider.issuer,
    'Identifier claim': claims.identifier,
    'User claim': claims.user_id,
    'Organization claim': claims.organization_id,
    Organizations: provider.allowed_organizations ?? 'all',
    'User verify URL': provider.user_verify_url,
    ...(oidc && {
      'Client id': oidc.client_id,
      'Client secret': oidc.has_client_secret ? 'set' : 'not set',
      Authentication: oidc.token_endpoint_auth_method,
      Scopes: oidc.scopes,
      'Callback URL': oidc.callback_url,
    }),
    ...(jwt && {
      Audiences: jwt.audiences,
      Clients: jwt.client_ids ?? 'all',
      Algorithms: jwt.algorithms,
      Scopes: jwt.scopes,
    }),
    Updated: provider.updated_at,
  });
}
