import type { EnvironmentId } from '../environment-id.ts';

/**
 * HELD: an owner has the lease. OPEN: a request was sent with the credentials of `generation`, and its outcome is not known. SETTLED: the
 * outcome is known; `generation` is the one that was obtained, or the one that was kept.
 */
export type RefreshState = 'HELD' | 'OPEN' | 'SETTLED';

/** Who refreshes an account, or how its last refresh ended. */
export interface RefreshLeaseRow {
  accountId: string;
  environmentId: EnvironmentId;
  /** Grows with each lease of the account. */
  fencing: number;
  state: RefreshState;
  generation: number;
  owner: string | null;
  expiresAt: number | null;
  failures: number;
  lastFailure: string | null;
  retryAt: number | null;
  /** The versions of the account and of its connection that the last refresh read. */
  versions: string | null;
}

export interface NewRefreshLease {
  /** The id of the instance; together with the fencing number it names one refresh. */
  owner: string;
  /** The generation of the credentials that are about to be used. */
  generation: number;
  /** Milliseconds UTC after which others may take the lease over. */
  expiresAt: number;
  /** The fencing number that was read, 0 for no row. The lease is not taken if another one is stored. */
  after: number;
}

export interface RefreshHolder {
  owner: string;
  fencing: number;
}

/** How a refresh ended. */
export type RefreshEnd = { state: 'OPEN' | 'SETTLED' } & Pick<
  RefreshLeaseRow,
  'generation' | 'failures' | 'lastFailure' | 'retryAt' | 'versions'
>;
