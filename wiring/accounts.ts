import { createRefresher, type RefreshDeps, type Refresher } from '../core/accounts/refresh.ts';
import type { RevocationDeps } from '../core/accounts/revocation-order.ts';
import { revokeLateTokens } from '../core/accounts/revoke-late-tokens.ts';
import { UsageTracker } from '../core/accounts/usage.ts';
import { BACKGROUND } from '../core/budgets.ts';
import type { Instance } from '../core/instances/instance.ts';
import { isServerReplaced } from '../core/mcp/upstream/server-replaced.ts';
import { pause } from '../core/scheduling/timers.ts';
import { signIdentityToken } from '../core/tokens/identity-token.ts';
import { type AccountRow, type AccountSummaryRow, environmentId } from '../db/store.ts';
import type { Keys } from './keys.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

export interface AccountParts extends Pick<Refresher, 'freshen' | 'ensureFresh' | 'refreshNow'> {
  readonly usage: {
    /** Records that an account was used now. */
    touch(account: AccountRow): void;
    /** When an account was last used, in milliseconds UTC; null if it was not used yet. */
    lastUsedAt(account: AccountSummaryRow): number | null;
  };
}

type Deps = Pick<Runtime, 'now' | 'log' | 'metrics' | 'startProcessJob'> &
  Pick<Storage, 'store'> &
  Pick<Keys, 'signingKeys'> &
  Omit<RefreshDeps, 'wait' | 'owner' | 'signIdentity' | 'isServerReplaced' | 'counted' | 'abandoned'> &
  RevocationDeps & { instance: Instance };

/** Keeps the tokens of accounts valid, and records when accounts are used. */
export function createAccountParts({ choose, closing }: Pick<Setup, 'choose' | 'closing'>, deps: Deps): AccountParts {
  const { store, now, log, metrics, startProcessJob, instance, signingKeys } = deps;
  const failure = 'the times of last use of accounts were not written';
  const tracker = new UsageTracker((id, times) =>
    store.write((tx) => tx.accounts.touch(environmentId(id), times), { isolated: false }),
  );
  closing.defer(() => tracker.flush().catch((err) => log.warn({ err }, failure)));
  startProcessJob({ name: 'usage_flush', everyMs: BACKGROUND.usageMs, run: () => tracker.flush(), failure });
  const refresher = createRefresher({
    ...deps,
    // Waits in real time, also in tests, because another instance must be able to run between two attempts.
    wait: pause,
    owner: instance.id,
    signIdentity: (claims) => signIdentityToken(signingKeys.current, claims),
    isServerReplaced: (plan) => isServerReplaced(deps, plan),
    counted: metrics.refresh,
    abandoned: (late) => revokeLateTokens(deps, late),
  });
  closing.defer(refresher.idle);
  return {
    freshen: choose('freshen', () => refresher.freshen),
    ensureFresh: choose('ensureFresh', () => refresher.ensureFresh),
    refreshNow: choose('refreshNow', () => refresher.refreshNow),
    usage: {
      touch: (account) => tracker.touch(account.environmentId, account.id, now()),
      lastUsedAt: (account) => tracker.lastUsedAt(account.environmentId, account.id, account.lastUsedAt),
    },
  };
}
