import type { Store } from '../../db/store.ts';
import type { AbandonedTokens } from './refresh-run.ts';
import { orderRevocation, type RevocationDeps } from './revocation-order.ts';

/**
 * Revokes tokens that a refresh received when its account no longer needed them. If the account is active again, its
 * new tokens may belong to the same grant, so the late tokens are left to expire.
 *
 * @throws StorageError
 */
export async function revokeLateTokens(
  deps: RevocationDeps & { store: Pick<Store, 'write'> },
  { account, current, tokens: { accessToken, refreshToken } }: AbandonedTokens,
): Promise<void> {
  if (current?.status === 'ACTIVE') return;
  const oauth_token = {
    access_token: accessToken.reveal(),
    ...(refreshToken && { refresh_token: refreshToken.reveal() }),
  };
  await deps.store.write((tx) => orderRevocation(tx, deps, account, { oauth_token }));
}
