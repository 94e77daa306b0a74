/** The identity-provider vendors of the contract; a connector of any other vendor is `CUSTOM`. */
export const VENDORS = [
  'OKTA',
  'GOOGLE',
  'MICROSOFT',
  'MICROSOFT_AD',
  'AUTH0',
  'ONELOGIN',
  'PING_IDENTITY',
  'JUMPCLOUD',
  'GITHUB',
  'GITLAB',
  'LINKEDIN',
  'SALESFORCE',
  'ADFS',
  'KEYCLOAK',
] as const;

export type IdentityProvider = 'CUSTOM' | 'IDP_SIMULATOR' | (typeof VENDORS)[number];

/** Returns the `provider` of a connection for the vendor that a connector file names. */
export function identityProviderOf(vendor: string | undefined): IdentityProvider {
  return VENDORS.find((known) => known === vendor) ?? 'CUSTOM';
}
