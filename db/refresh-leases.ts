import { and, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { NewRefreshLease, RefreshEnd, RefreshHolder, RefreshLeaseRow } from './rows/refresh-leases.ts';
import { accounts, instances, refreshLeases } from './schema.ts';
import type { Statements } from './statements.ts';

export interface RefreshLeaseReads {
  get(environmentId: EnvironmentId, accountId: string): Promise<RefreshLeaseRow | undefined>;
}

export interface RefreshLeaseWrites {
  /**
   * Takes the lease of an account, which is the right to refresh its credentials, with the next fencing number. The
   * caller must check whether the lease may be taken from a previous holder.
   *
   * @returns false if the stored number is not `lease.after`, or there is no such account
   */
  take(environmentId: EnvironmentId, accountId: string, lease: NewRefreshLease): Promise<boolean>;
  /** Releases a lease. @returns false if the holder does not have it any more, or the account was deleted */
  release(environmentId: EnvironmentId, accountId: string, holder: RefreshHolder, end: RefreshEnd): Promise<boolean>;
  /** Makes the leases of instances that have ended expire, so that other processes can take them. @returns how many */
  endAbandoned(environmentId: EnvironmentId): Promise<number>;
}

export type RefreshLeaseRepository = RefreshLeaseReads & RefreshLeaseWrites;

const t = refreshLeases;
const itsEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneLease = and(eq(t.accountId, sql.placeholder('accountId')), itsEnvironment) as SQL;
const fenced = sql`${t.fencing} = ${sql.placeholder('fencing')}`;

export function createRefreshLeaseRepository({ db, once }: Statements): RefreshLeaseRepository {
  const get = once(() => db.select().from(t).where(oneLease).prepare());
  const first = once(() => {
    const account = and(
      eq(accounts.id, sql.placeholder('accountId')),
      eq(accounts.environmentId, sql.placeholder('environmentId')),
    );
    const row = db
      .select({
        accountId: accounts.id,
        environmentId: accounts.environmentId,
        fencing: sql<number>`1`.as('fencing'),
        state: sql<'HELD'>`'HELD'`.as('state'),
        generation: sql<number>`cast(${sql.placeholder('generation')} as bigint)`.as('generation'),
        owner: sql<string>`cast(${sql.placeholder('owner')} as text)`.as('owner'),
        expiresAt: sql<number>`cast(${sql.placeholder('expiresAt')} as bigint)`.as('expires_at'),
        failures: sql<number>`0`.as('failures'),
        lastFailure: sql<null>`null`.as('last_failure'),
        retryAt: sql<null>`null`.as('retry_at'),
        versions: sql<null>`null`.as('versions'),
      })
      .from(accounts)
      .where(account);
    return db.insert(t).select(row).onConflictDoNothing().prepare();
  });
  const next = once(() =>
    db
      .update(t)
      .set({
        fencing: sql`${t.fencing} + 1`,
        state: 'HELD',
        generation: sql`${sql.placeholder('generation')}`,
        owner: sql`${sql.placeholder('owner')}`,
        expiresAt: sql`${sql.placeholder('expiresAt')}`,
      })
      .where(and(oneLease, fenced))
      .prepare(),
  );
  const release = once(() =>
    db
      .update(t)
      .set({
        state: sql`${sql.placeholder('state')}`,
        generation: sql`${sql.placeholder('generation')}`,
        owner: null,
        expiresAt: null,
        failures: sql`${sql.placeholder('failures')}`,
        lastFailure: sql`${sql.placeholder('lastFailure')}`,
        retryAt: sql`${sql.placeholder('retryAt')}`,
        versions: sql`${sql.placeholder('versions')}`,
      })
      .where(and(oneLease, eq(t.state, 'HELD'), eq(t.owner, sql.placeholder('owner')), fenced))
      .prepare(),
  );
  const endAbandoned = once(() => {
    const isGone = sql`${t.owner} not in (select ${instances.id} from ${instances})`;
    return db
      .update(t)
      .set({ expiresAt: 0 })
      .where(and(itsEnvironment, sql`${t.state} = 'HELD'`, isGone))
      .prepare();
  });

  return {
    get: (environmentId, accountId) => get().get({ environmentId, accountId }),
    async take(environmentId, accountId, { after, ...lease }) {
      const values = { ...lease, environmentId, accountId };
      if (after === 0) return (await first().run(values)).changes === 1;
      return (await next().run({ ...values, fencing: after })).changes === 1;
    },
    async release(environmentId, accountId, holder, end) {
      return (await release().run({ ...end, ...holder, environmentId, accountId })).changes === 1;
    },
    async endAbandoned(environmentId) {
      return (await endAbandoned().run({ environmentId })).changes;
    },
  };
}
