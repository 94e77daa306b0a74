import type { AccountRow, EnvironmentId, Store } from '../../db/store.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import { BACKGROUND } from '../budgets.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { type RefreshFacts, refreshFactsOf } from '../oauth/refresh-facts.ts';
import { fraction } from '../random.ts';
import { type Clock, isExpired } from './freshness.ts';
import type { Refresher } from './refresh.ts';
import type { RefreshLog } from './refresh-run.ts';

export interface KeepAliveTools extends Clock {
  store: Pick<Store, 'read'>;
  refresher: Pick<Refresher, 'refreshNow'>;
  catalogue: Pick<Catalogue, 'connectors' | 'provider'>;
  log?: Pick<RefreshLog, 'error'>;
  limits?: Partial<KeepAliveLimits>;
}

export interface KeepAliveLimits {
  /** Concurrent refreshes. Low, because this work is not urgent. */
  atOnce: number;
  /** Accounts per batch. */
  piece: number;
}

export interface KeepAlive {
  /**
   * Looks once through the accounts that may need it.
   *
   * @param signal ends the run after the refreshes that are under way
   * @returns how many accounts it tried to refresh, and how many of them have other tokens now
   * @throws StorageError when accounts cannot be read; what one account meets keeps no other one back
   */
  run(signal?: AbortSignal): Promise<KeptAlive>;
}

export interface KeptAlive {
  tried: number;
  renewed: number;
}

/** Pattern of a connector whose grants end when they are not refreshed. */
interface IdleRule {
  provider: string;
  type: AuthorizationType;
  facts: RefreshFacts & { idleLifeMs: number };
}

const LIMITS: KeepAliveLimits = { atOnce: BACKGROUND.keepAliveAtOnce, piece: 100 };
const DUE_SHARE = BACKGROUND.keepAlivePercent / 100;
/** The part varies by so much to either side, so that accounts which were connected together do not come together (threat R8). */
const JITTER = 0.05;

/**
 * Refreshes the tokens of unused accounts before their provider revokes idle grants. The idle time counts from the end of the access token: that comes hours after the last refresh and, unlike the account's last change, is moved
 * by nothing else.
 */
export function createKeepAlive(tools: KeepAliveTools): KeepAlive {
  const { atOnce, piece } = { ...LIMITS, ...tools.limits };
  const rules = idleRulesOf(tools.catalogue);

  async function run(signal?: AbortSignal): Promise<KeptAlive> {
    const kept: KeptAlive = { tried: 0, renewed: 0 };
    for (const { id } of await tools.store.read.environments.list()) {
      for (const rule of rules) await keepAll(id, rule, kept, signal);
    }
    return kept;
  }

  async function keepAll(
    environmentId: EnvironmentId,
    rule: IdleRule,
    kept: KeptAlive,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { provider, type, facts } = rule;
    const endedBy = tools.now() - facts.idleLifeMs * (DUE_SHARE - JITTER);
    let after: AccountRow | undefined;
    while (!signal?.aborted) {
      const found = await tools.store.read.accounts.listIdle(environmentId, {
        provider,
        type,
        endedBy: Math.floor(endedBy),
        after,
        limit: piece,
      });
      const due = found.filter((account) => isDueIdle(account, facts, tools));
      await Promise.all(Array.from({ length: Math.min(atOnce, due.length) }, () => work(due, kept, signal)));
      after = found.at(-1);
      if (found.length < piece) return;
    }
  }

  /** Takes accounts off the list until there is none left. */
  async function work(due: AccountRow[], kept: KeptAlive, signal: AbortSignal | undefined): Promise<void> {
    for (let account = due.shift(); account !== undefined && !signal?.aborted; account = due.shift()) {
      kept.tried++;
      const cause = { environmentId: account.environmentId, actor: 'system', requestId: '' };
      try {
        if ((await tools.refresher.refreshNow(account, cause)) !== null) kept.renewed++;
      } catch (err) {
        tools.log?.error({ account_id: account.id, err }, 'an idle account could not be refreshed');
      }
    }
  }

  return { run };
}

/** Custom providers say nothing of the life of tokens, so the rules are those of the catalogue. */
function idleRulesOf(catalogue: KeepAliveTools['catalogue']): IdleRule[] {
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

/** Drawn again in each run: there are many runs between the first and the last time that an account may be drawn. */
function isDueIdle(account: AccountRow, { idleLifeMs }: IdleRule['facts'], { now, random }: Clock): boolean {
  const at = now();
  if (account.tokenExpiresAt === null || !isExpired(account, at)) return false;
  const share = (at - account.tokenExpiresAt) / idleLifeMs;
  return share >= DUE_SHARE + JITTER * (2 * fraction(random) - 1);
}
