import type { AuthorizationType } from '../../connectors/auth-pattern.ts';

/** By what the service gets an account's next access token. */
export type Obtaining = 'refresh_token' | 'client_credentials' | 'delegation' | 'web_identity';

/** The types of which the service gets tokens. Everything that treats them apart asks here. */
const OBTAINING: Partial<Record<AuthorizationType, Obtaining>> = {
  OAUTH: 'refresh_token',
  SMART_FHIR: 'refresh_token',
  OAUTH_M2M: 'client_credentials',
  WORKSPACE_DWD: 'delegation',
  TRUSTED_IDP: 'web_identity',
};

/** @returns undefined for accounts that have no tokens, or only such as they were given */
export function obtainingOf(type: AuthorizationType): Obtaining | undefined {
  return OBTAINING[type];
}

/** Whether the service gets tokens on the strength of what stays in place, so that nothing is spent by asking again. */
export function isOwnObtaining(type: AuthorizationType): boolean {
  const obtaining = obtainingOf(type);
  return obtaining !== undefined && obtaining !== 'refresh_token';
}
