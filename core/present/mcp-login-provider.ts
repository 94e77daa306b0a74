import type { EnvironmentRow, LoginProviderRow } from '../../db/store.ts';
import { portalCallbackUrl, providerCallbackUrl } from '../mcp-login/addresses.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentMcpLoginProvider(
  environment: Pick<EnvironmentRow, 'baseUrl'>,
  row: LoginProviderRow,
): Schemas['McpLoginProvider'] {
  const { claims, oidc, jwt } = row;
  return {
    id: row.id,
    type: row.type,
    issuer: row.issuer,
    claims: { identifier: claims.identifier, user_id: claims.userId, organization_id: claims.organizationId },
    allowed_organizations: row.allowedOrganizations,
    user_verify_url: row.userVerifyUrl,
    oidc: oidc && {
      client_id: oidc.clientId,
      has_client_secret: row.clientSecretSealed !== null,
      token_endpoint_auth_method: oidc.authMethod,
      scopes: oidc.scopes,
      callback_url: providerCallbackUrl(environment),
      portal_callback_url: portalCallbackUrl(environment),
    },
    jwt: jwt && {
      audiences: jwt.audiences,
      client_ids: jwt.clientIds,
      algorithms: jwt.algorithms,
      scopes: jwt.scopes,
    },
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}
