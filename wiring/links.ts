import type { AuthorizationClient } from '../core/accounts/links/authorization-client.ts';
import { authorizationClients } from '../core/accounts/links/authorization-clients.ts';
import type { LinkDeps } from '../core/accounts/links/link-deps.ts';
import { createOAuthClient, type OAuthClientDeps } from '../core/accounts/links/oauth-client.ts';
import { createOAuth1Client } from '../core/accounts/links/oauth1-client.ts';
import { type McpAuthorizationDeps, prepareConsent } from '../core/mcp/upstream/authorization.ts';

export interface LinkParts {
  /** The protocols by which users grant access at providers. */
  readonly authorization: AuthorizationClient;
  /** Discovers the missing endpoints of a provider before a user is redirected to it. */
  readonly prepareConsent: LinkDeps['prepareConsent'];
}

/** Creates the parts that let users connect accounts. */
export function createLinkParts(deps: OAuthClientDeps & McpAuthorizationDeps): LinkParts {
  return {
    authorization: authorizationClients({ oauth2: createOAuthClient(deps), oauth1: createOAuth1Client(deps) }),
    prepareConsent: (link) => prepareConsent(deps, link),
  };
}
