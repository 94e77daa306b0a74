import type { EnvironmentId } from '../environment-id.ts';

/**
 * HELD: a process has the lease. OPEN: a request was sent with the credentials of `generation`, and its outcome is
 * unknown. SETTLED: the outcome is known; `generation` is that of the new or unchanged credentials.
 */
export type RefreshState = 'HELD' | 'OPEN' | 'SETTLED';

/** The running refresh of an account, or the outcome of its last refresh. */
export interface RefreshLeaseRow {
  accountId: string;
  environmentId: EnvironmentId;
  /** Increases with each lease of the account. */
  fencing: number;
  state: RefreshState;
  generation: number;
  owner: string | null;
  expiresAt: number | null;
  failures: number;
  lastFailure: string | null;
  retryAt: number | null;
  /** The versions of the account and its connection that the last refresh has read. */
  versions: string | null;
}

export interface NewRefreshLease {
  /** The id of the instance. Together with the fencing number it identifies one refresh. */
  owner: string;
  /** The generation of the credentials that will be used. */
  generation: number;
  /** The time in milliseconds UTC after which other processes may take over the lease. */
  expiresAt: number;
  /** The fencing number that was read; 0 if there was no row. The lease is not taken if the stored number differs. */
  after: number;
}

export interface RefreshHolder {
  owner: string;
  fencing: number;
}

/** The outcome of a refresh. */
export type RefreshEnd = { state: 'OPEN' | 'SETTLED' } & Pick<
  RefreshLeaseRow,
  'generation' | 'failures' | 'lastFailure' | 'retryAt' | 'versions'
>;
