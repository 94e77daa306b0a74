import type { AccountRow } from '../../../db/store.ts';
import type { Obtaining } from '../../authorization/module.ts';
import { moduleOf } from '../../authorization/registry.ts';

/** The account fields that determine how its tokens are obtained. */
export type ObtainingFields = Pick<AccountRow, 'authorizationType' | 'temporarySealed' | 'publicDetails'>;

/** Returns how tokens are obtained; undefined for types that have no tokens, or whose tokens Valetkey cannot renew. */
export function obtainingOf(account: ObtainingFields): Obtaining | undefined {
  return moduleOf(account.authorizationType).obtainingOf?.(account);
}

/**
 * Whether Valetkey obtains the tokens of an account with credentials that can be used again. A refresh token, by
 * contrast, may be valid for one use only.
 */
export function canObtainAgain(account: ObtainingFields): boolean {
  const obtaining = obtainingOf(account);
  return obtaining !== undefined && obtaining !== 'refresh_token';
}
