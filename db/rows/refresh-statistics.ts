import type { Hours } from './hours.ts';

/**
 * `SUCCEEDED`: a token was stored. `EXPIRED`: the provider no longer accepts the credentials, so the account can no
 * longer be used. `FAILED`: the account is unchanged, and the refresh is tried again.
 */
export type RefreshOutcomeName = 'SUCCEEDED' | 'EXPIRED' | 'FAILED';

/** What refreshes are grouped by. */
export type RefreshStatisticGroup = 'hour' | 'connector' | 'outcome';

export interface RefreshStatisticFilters extends Hours {
  connector?: string | undefined;
}

/** One refresh. */
export interface CountedRefresh {
  /** The hour in which the outcome was stored: hours since 1970, UTC. */
  hour: number;
  connector: string;
  outcome: RefreshOutcomeName;
  /** Why a refresh failed; empty for other outcomes. */
  errorKind: string;
}

/** How many refreshes of a group had an outcome. */
export interface RefreshStatisticRow {
  /** The hour or connector; why refreshes failed if they are grouped by outcome. */
  group: string;
  outcome: RefreshOutcomeName;
  total: number;
}
