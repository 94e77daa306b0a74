import type { AccountRow } from '../../../db/store.ts';
import type { AuthorizationType } from '../../authorization/type.ts';

/** By what the service gets an account's next access token. */
export type Obtaining = 'refresh_token' | 'client_credentials' | 'delegation' | 'web_identity';

/** What of an account says by what it is. */
export type Obtainer = Pick<AccountRow, 'authorizationType' | 'temporarySealed' | 'publicDetails'>;

/** The types of which the service gets tokens. Everything that treats them apart asks here. */
const OBTAINING: Partial<Record<AuthorizationType, Obtaining>> = {
  OAUTH: 'refresh_token',
  SMART_FHIR: 'refresh_token',
  OAUTH_M2M: 'client_credentials',
  WORKSPACE_DWD: 'delegation',
  TRUSTED_IDP: 'web_identity',
};

/** @returns undefined for accounts that have no tokens, or only such as they were given */
export function obtainingOf(account: Obtainer): Obtaining | undefined {
  return isBackendService(account) ? 'client_credentials' : OBTAINING[account.authorizationType];
}

/** Whether the service gets tokens on the strength of what stays in place, so that nothing is spent by asking again. */
export function isOwnObtaining(account: Obtainer): boolean {
  const obtaining = obtainingOf(account);
  return obtaining !== undefined && obtaining !== 'refresh_token';
}

/** An account of a record system that no person gave a token for: what it has is a key, or what was obtained. */
function isBackendService({ authorizationType, temporarySealed, publicDetails }: Obtainer): boolean {
  if (authorizationType !== 'SMART_FHIR') return false;
  return temporarySealed !== null || !Object.hasOwn(publicDetails ?? {}, 'oauth_token');
}
