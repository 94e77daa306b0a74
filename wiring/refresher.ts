import { setTimeout as sleep } from 'node:timers/promises';
import { createRefresher as create, type Refresher, type RefreshTools } from '../core/accounts/refresh.ts';
import type { AbandonedTokens } from '../core/accounts/refresh-run.ts';
import { orderRevocation, type RevocationTools } from '../core/accounts/revocation-order.ts';
import { isServerReplaced } from '../core/mcp/upstream/server-replaced.ts';

export type RefresherNeeds = Omit<RefreshTools, 'wait' | 'abandoned' | 'isServerReplaced'> & RevocationTools;

/** The refresher of accounts, on the real clock. */
export function createRefresher(tools: RefresherNeeds): Refresher {
  return create({
    ...tools,
    wait: (ms) => sleep(ms, undefined, { ref: false }),
    isServerReplaced: (plan) => isServerReplaced(tools, plan),
    abandoned: (late) => revokeLate(tools, late),
  });
}

/** Revokes tokens that arrived late. If the account is active again, its new tokens may share their grant, so they are left to expire. */
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
