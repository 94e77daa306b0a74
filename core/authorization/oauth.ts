import { OAUTH_TOKEN } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeBearer } from './placing.ts';

/** The authorization code grant of OAuth 2 (RFC 6749 §4.1). */
export const oauth: AuthorizationModule = {
  connectionType: 'OAUTH',
  forms: [OAUTH_TOKEN],
  placeToken: placeBearer,
  client: { kind: 'registered' },
  consent: {
    protocol: 'oauth2',
    isPossible: ({ is_mcp: isMcp, oauth_config: config = {} }) =>
      isMcp === true || (config.authorize_uri ?? config.issuer) !== undefined,
  },
  obtainingOf: () => 'refresh_token',
  isDiscoveredByMcp: true,
  metadataGrant: 'authorization_code',
};
