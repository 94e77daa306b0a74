import { setTimeout as wait } from 'node:timers/promises';
import type { Refresher, RefreshTools } from '../core/accounts/refresh.ts';
import { createRefresher as create } from '../core/accounts/refresh.ts';
import type { AbandonedTokens } from '../core/accounts/refresh-run.ts';
import { orderRevocation, type RevocationTools } from '../core/accounts/revocation-order.ts';
import { isServerReplaced } from '../core/mcp/upstream/server-replaced.ts';
import type { Deps } from './deps.ts';
import { createPinnedFetch } from './pinned-fetch.ts';

type Parts = Omit<RefreshTools, 'wait' | 'fetchFor' | 'abandoned' | 'isServerReplaced'> &
  RevocationTools &
  Pick<Deps, 'egressOf'>;

/** The refresher of accounts, on the real clock and the egress of each account's environment. */
export function createRefresher({ egressOf, ...tools }: Parts): Refresher {
  const fetchFor = createPinnedFetch({ store: tools.store, egressOf });
  return create({
    ...tools,
    wait: (ms) => wait(ms, undefined, { ref: false }),
    fetchFor,
    isServerReplaced: (plan) => isServerReplaced({ ...tools, fetchFor }, plan),
    abandoned: (late) => revokeLate(tools, late),
  });
}

/** Where the account is in use again, its new credentials may be of the same grant: then the late ones are left to expire. */
async function revokeLate(
  tools: RevocationTools & Pick<RefreshTools, 'store'>,
  { account, current, tokens: { accessToken, refreshToken } }: AbandonedTokens,
): Promise<void> {
  if (current?.status === 'ACTIVE') return;
  const oauth_token = {
    access_token: accessToken.reveal(),
    ...(refreshToken && { refresh_token: refreshToken.reveal() }),
  };
  await tools.store.write((tx) => orderRevocation(tx, tools, account, { oauth_token }));
}
