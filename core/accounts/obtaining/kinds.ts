import type { AccountRow } from '../../../db/store.ts';
import type { Obtaining } from '../../authorization/module.ts';
import { moduleOf } from '../../authorization/registry.ts';

/** The account fields that determine how its tokens are obtained. */
export type Obtainer = Pick<AccountRow, 'authorizationType' | 'temporarySealed' | 'publicDetails'>;

/** @returns undefined for accounts that have no tokens, or only such as they were given */
export function obtainingOf(account: Obtainer): Obtaining | undefined {
  return moduleOf(account.authorizationType).obtainingOf?.(account);
}

/** Whether the service obtains tokens with what stays in place, so that nothing is spent by asking again. */
export function isOwnObtaining(account: Obtainer): boolean {
  const obtaining = obtainingOf(account);
  return obtaining !== undefined && obtaining !== 'refresh_token';
}
