import type { AccountRow, EnvironmentId, Store } from '../../db/store.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import { BACKGROUND } from '../budgets.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { type RefreshFacts, refreshFactsOf } from '../oauth/refresh-facts.ts';
import { fraction } from '../random.ts';
import { type Clock, isExpired } from './freshness.ts';
import type { Refresher } from './refresh.ts';
import type { RefreshLog } from './refresh-run.ts';

export interface KeepAliveDeps extends Clock {
  store: Pick<Store, 'read'>;
  refresher: Pick<Refresher, 'refreshNow'>;
  catalogue: Pick<Catalogue, 'connectors' | 'provider'>;
  log?: Pick<RefreshLog, 'error'>;
  limits?: Partial<KeepAliveLimits>;
}

export interface KeepAliveLimits {
  /** Concurrent refreshes. Low, because this work is not urgent. */
  concurrency: number;
  /** Accounts per batch. */
  batch: number;
}

export interface KeepAlive {
  /**
   * Checks all accounts once and refreshes those that need it.
   *
   * @param signal when it is aborted, no further refreshes are started; running ones are completed
   * @returns how many refreshes were tried, and how many of them changed the tokens
   * @throws StorageError if accounts cannot be read; the failure of one account does not stop the run
   */
  run(signal?: AbortSignal): Promise<KeepAliveCounts>;
}

export interface KeepAliveCounts {
  tried: number;
  renewed: number;
}

/** An authorization pattern of a connector whose provider ends a grant that is not refreshed for some time. */
interface IdleRule {
  provider: string;
  type: AuthorizationType;
  facts: RefreshFacts & { idleLifeMs: number };
}

const LIMITS: KeepAliveLimits = { concurrency: BACKGROUND.keepAliveConcurrency, batch: 100 };
const DUE_SHARE = BACKGROUND.keepAlivePercent / 100;
/**
 * The due time of each account varies randomly, in both directions, by up to this fraction of the maximum idle time. So
 * accounts which were connected together are not refreshed together (threat R8).
 */
const JITTER = 0.05;

/**
 * Refreshes the tokens of unused accounts before their provider revokes idle grants. The idle time is counted from the
 * expiry of the access token, because this value changes only when the account gets other credentials. The time of the
 * account's last change cannot be used, because every update of the account changes it.
 */
export function createKeepAlive(deps: KeepAliveDeps): KeepAlive {
  const { concurrency, batch } = { ...LIMITS, ...deps.limits };
  const rules = idleRulesOf(deps.catalogue);

  async function run(signal?: AbortSignal): Promise<KeepAliveCounts> {
    const kept: KeepAliveCounts = { tried: 0, renewed: 0 };
    for (const { id } of await deps.store.read.environments.list()) {
      for (const rule of rules) await refreshDue(id, rule, kept, signal);
    }
    return kept;
  }

  async function refreshDue(
    environmentId: EnvironmentId,
    rule: IdleRule,
    kept: KeepAliveCounts,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { provider, type, facts } = rule;
    const endedBy = deps.now() - facts.idleLifeMs * (DUE_SHARE - JITTER);
    let after: AccountRow | undefined;
    while (!signal?.aborted) {
      const found = await deps.store.read.accounts.listIdle(environmentId, {
        provider,
        type,
        endedBy: Math.floor(endedBy),
        after,
        limit: batch,
      });
      const due = found.filter((account) => isDueIdle(account, facts, deps));
      await Promise.all(Array.from({ length: Math.min(concurrency, due.length) }, () => work(due, kept, signal)));
      after = found.at(-1);
      if (found.length < batch) return;
    }
  }

  /** Refreshes accounts from the list until the list is empty or the signal is aborted. */
  async function work(due: AccountRow[], kept: KeepAliveCounts, signal: AbortSignal | undefined): Promise<void> {
    for (let account = due.shift(); account !== undefined && !signal?.aborted; account = due.shift()) {
      kept.tried++;
      const cause = { environmentId: account.environmentId, actor: 'system', requestId: '' };
      try {
        if ((await deps.refresher.refreshNow(account, cause)) !== null) kept.renewed++;
      } catch (err) {
        deps.log?.error({ account_id: account.id, err }, 'an idle account could not be refreshed');
      }
    }
  }

  return { run };
}

/** Custom providers do not declare how long idle grants live, so the rules come from the catalogue only. */
function idleRulesOf(catalogue: KeepAliveDeps['catalogue']): IdleRule[] {
  return catalogue.connectors().flatMap(({ identifier }) => {
    const patterns = catalogue.provider(identifier)?.authPatterns ?? [];
    return patterns.flatMap(({ type, oauth_config = {} }) => {
      const facts = refreshFactsOf(oauth_config);
      const { kind, idleLifeMs } = facts;
      return idleLifeMs === null || kind === 'none'
        ? []
        : [{ provider: identifier, type, facts: { ...facts, idleLifeMs } }];
    });
  });
}

/**
 * Whether an idle account is due. Each run draws a new random due time, so that accounts which expired together are
 * refreshed in different runs.
 */
function isDueIdle(account: AccountRow, { idleLifeMs }: IdleRule['facts'], { now, random }: Clock): boolean {
  const at = now();
  if (account.tokenExpiresAt === null || !isExpired(account, at)) return false;
  const share = (at - account.tokenExpiresAt) / idleLifeMs;
  return share >= DUE_SHARE + JITTER * (2 * fraction(random) - 1);
}
