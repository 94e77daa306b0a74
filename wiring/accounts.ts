import { setTimeout as sleep } from 'node:timers/promises';
import { createRefresher, type RefreshDeps, type Refresher } from '../core/accounts/refresh.ts';
import type { RevocationDeps } from '../core/accounts/revocation-order.ts';
import { revokeLateTokens } from '../core/accounts/revoke-late-tokens.ts';
import { UsageTracker } from '../core/accounts/usage.ts';
import { BACKGROUND, JOBS } from '../core/budgets.ts';
import type { Instance } from '../core/instances/instance.ts';
import { isServerReplaced } from '../core/mcp/upstream/server-replaced.ts';
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
    /** Milliseconds UTC, or null. */
    lastUsedAt(account: AccountSummaryRow): number | null;
  };
}

type Deps = Pick<Runtime, 'now' | 'log' | 'metrics' | 'startTimer'> &
  Pick<Storage, 'store'> &
  Pick<Keys, 'signingKeys'> &
  Omit<RefreshDeps, 'wait' | 'owner' | 'signIdentity' | 'isServerReplaced' | 'counted' | 'abandoned'> &
  RevocationDeps & { instance: Instance };

/** Keeps the tokens of accounts valid, and records when accounts are used. */
export function createAccountParts({ choose, closing }: Pick<Setup, 'choose' | 'closing'>, deps: Deps): AccountParts {
  const { store, now, log, metrics, startTimer, instance, signingKeys } = deps;
  const failed = (err: unknown) => log.warn({ err }, 'times of use were not written');
  const tracker = new UsageTracker((id, times) =>
    store.write((tx) => tx.accounts.touch(environmentId(id), times), { isolated: false }),
  );
  closing.defer(() => tracker.flush().catch(failed));
  const flushing = startTimer(() => tracker.flush(), { everyMs: BACKGROUND.usageMs, failed });
  closing.defer(() => flushing.stop(JOBS.stopMs));
  const refresher = createRefresher({
    ...deps,
    // The real clock, also in tests: between two attempts another instance must be able to run.
    wait: (ms) => sleep(ms, undefined, { ref: false }),
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
