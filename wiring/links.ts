import type { AuthorizationClient } from '../core/accounts/links/authorization-client.ts';
import { authorizationClients } from '../core/accounts/links/authorization-clients.ts';
import type { LinkTools } from '../core/accounts/links/link-tools.ts';
import { createOAuthClient, type OAuthClientTools } from '../core/accounts/links/oauth-client.ts';
import { createOAuth1Client } from '../core/accounts/links/oauth1-client.ts';
import { type McpAuthorizationTools, readyForConsent } from '../core/mcp/upstream/authorization.ts';

export interface LinkParts {
  /** The protocols by which users grant access at providers. */
  readonly authorization: AuthorizationClient;
  /** Discovers the missing endpoints of a provider before a user is redirected to it. */
  readonly readyForConsent: LinkTools['readyForConsent'];
}

/** Creates the parts that let users connect accounts. */
export function createLinkParts(parts: OAuthClientTools & McpAuthorizationTools): LinkParts {
  return {
    authorization: authorizationClients({ oauth2: createOAuthClient(parts), oauth1: createOAuth1Client(parts) }),
    readyForConsent: (link) => readyForConsent(parts, link),
  };
}
