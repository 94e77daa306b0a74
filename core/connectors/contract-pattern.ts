import type { AuthPattern, OAuthConfig } from './auth-pattern.ts';
import type { OAuthDeviations } from './oauth-deviations.ts';

/** Members of an OAuth configuration that the contract (the description of the REST API) does not contain. */
const HIDDEN: Record<keyof OAuthDeviations | 'learned', true> = {
  learned: true,
  discovery: true,
  resource: true,
  authorization: true,
  token: true,
  exchange: true,
  refresh: true,
  revocation: true,
  lookup: true,
  identity: true,
  account_values: true,
};

/**
 * Converts a pattern of a connector file to the format of the contract, by removing the keys that only such files have.
 */
export function contractPattern({ auth_scheme: _scheme, ...pattern }: AuthPattern): AuthPattern {
  const { account_fields: fields, oauth_config: config } = pattern;
  return {
    ...pattern,
    ...(fields && { account_fields: fields.map(({ sites: _sites, ...field }) => field) }),
    ...(config && { oauth_config: shownConfig(config) }),
  };
}

function shownConfig(config: OAuthConfig): OAuthConfig {
  const kept = Object.entries(config).filter(([key]) => !Object.hasOwn(HIDDEN, key));
  return Object.fromEntries(kept) as OAuthConfig;
}
