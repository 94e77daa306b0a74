import { type DataKeys, wrappedDataKeyIn } from './data-keys.ts';
import { deleteOldest } from './delete-oldest.ts';
import { and, count, eq, getTableColumns, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuthRequestEnd, AuthRequestRow, NewAuthRequest, PendingGrant } from './rows/auth-requests.ts';
import { authRequests } from './schema.ts';
import type { Statements } from './statements.ts';

export interface AuthRequestReads {
  get(environmentId: EnvironmentId, id: string): Promise<AuthRequestRow | undefined>;
  byLink(environmentId: EnvironmentId, linkDigest: Buffer): Promise<AuthRequestRow | undefined>;
  byRequest(environmentId: EnvironmentId, requestDigest: Buffer): Promise<AuthRequestRow | undefined>;
  /** Returns the requests that have expired but not ended, the longest overdue first. */
  due(environmentId: EnvironmentId, now: number, limit: number): Promise<AuthRequestRow[]>;
  /** Counts the requests of an account that wait for verification. */
  countPending(environmentId: EnvironmentId, accountId: string): Promise<number>;
  /** Returns the requests of the same account that wait for verification and were finished before this one. */
  finishedBefore(
    environmentId: EnvironmentId,
    request: Pick<AuthRequestRow, 'accountId' | 'expiresAt' | 'id'>,
  ): Promise<AuthRequestRow[]>;
}

export interface AuthRequestWrites {
  insert(environmentId: EnvironmentId, request: NewAuthRequest): Promise<void>;
  /**
   * Extends an open request so that it expires at `expiresAt`, unless it already expires later. @returns false if it is
   * not open
   */
  extend(environmentId: EnvironmentId, id: string, expiresAt: number): Promise<boolean>;
  /**
   * Changes the state from OPEN to PENDING_VERIFICATION and stores the grant. @returns false if the request is not open
   */
  finish(environmentId: EnvironmentId, id: string, grant: PendingGrant): Promise<boolean>;
  /** Stores why the last attempt failed; null for a new attempt. @returns false if the request has ended */
  setError(environmentId: EnvironmentId, id: string, error: string | null): Promise<boolean>;
  /**
   * Counts an attempt to verify the request with a wrong identifier. @returns false if the request does not wait for
   * verification
   */
  countMismatch(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Ends a request and deletes its stored data. @returns false if it has already ended */
  end(environmentId: EnvironmentId, id: string, as: AuthRequestEnd, endedAt: number): Promise<boolean>;
  /**
   * Makes all requests of an account that have not ended expire, so that none can be used any more and `due` returns
   * them. @returns how many
   */
  close(environmentId: EnvironmentId, accountId: string, at: number): Promise<number>;
  /** Deletes some of the requests that ended before a time, the oldest first, with their flows. @returns how many */
  purge(environmentId: EnvironmentId, endedBefore: number, limit: number): Promise<number>;
}

export type AuthRequestRepository = AuthRequestReads & AuthRequestWrites;

const t = authRequests;
const { dataKey, ...ownColumns } = getTableColumns(t);
const columns = { ...ownColumns, wrappedDataKey: wrappedDataKeyIn(dataKey) };
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneRequest = and(eq(t.id, sql.placeholder('id')), withinEnvironment) as SQL;
const itsAccount = and(eq(t.accountId, sql.placeholder('accountId')), withinEnvironment) as SQL;
// The condition of the partial indexes.
const notEnded = sql`${t.endedAt} is null`;
const open = eq(t.state, 'OPEN');
const pending = eq(t.state, 'PENDING_VERIFICATION');
const given = (name: string) => sql`${sql.placeholder(name)}`;

export function createAuthRequestRepository(
  { db, once, dialect }: Statements,
  dataKeys: DataKeys,
): AuthRequestRepository {
  const select = (where: SQL) => once(() => db.select(columns).from(t).where(and(where, withinEnvironment)).prepare());
  const get = select(oneRequest);
  const byLink = select(eq(t.linkDigest, sql.placeholder('digest')));
  const byRequest = select(eq(t.requestDigest, sql.placeholder('digest')));
  const due = once(() =>
    db
      .select(columns)
      .from(t)
      .where(and(withinEnvironment, notEnded, lte(t.expiresAt, sql.placeholder('now'))))
      .orderBy(t.expiresAt)
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const countPending = once(() =>
    db
      .select({ total: count() })
      .from(t)
      .where(and(itsAccount, notEnded, pending))
      .prepare(),
  );
  const finishedBefore = once(() => {
    // Every finished request has the same verification period, so requests expire in the order in which they were
    // finished.
    const earlier = sql`(${t.expiresAt}, ${t.id}) < (${sql.placeholder('expiresAt')}, ${sql.placeholder('id')})`;
    return db
      .select(columns)
      .from(t)
      .where(and(itsAccount, notEnded, pending, earlier))
      .prepare();
  });
  const insert = once(() => {
    const names = ['id', 'environmentId', 'accountId', 'connectionId', 'linkDigest', 'linkExpiresAt', 'identifier'];
    const rest = ['userVerifyUrl', 'callerState', 'createdAt', 'expiresAt', 'language'];
    const values = Object.fromEntries([...names, ...rest].map((name) => [name, sql.placeholder(name)]));
    const start = { state: 'OPEN' as const, origins: [], mismatches: 0 };
    return db
      .insert(t)
      .values({ ...values, ...start } as unknown as AuthRequestRow)
      .prepare();
  });
  const extend = once(() =>
    db
      .update(t)
      .set({ expiresAt: dialect.greatest(t.expiresAt, sql.placeholder('expiresAt')) })
      .where(and(oneRequest, open))
      .prepare(),
  );
  const finish = once(() =>
    db
      .update(t)
      .set({
        state: 'PENDING_VERIFICATION',
        requestDigest: given('requestDigest'),
        origins: given('origins'),
        dataKey: given('dataKey'),
        kekId: given('kekId'),
        pendingSealed: given('pendingSealed'),
        expiresAt: given('expiresAt'),
      })
      .where(and(oneRequest, open))
      .prepare(),
  );
  const setError = once(() =>
    db
      .update(t)
      .set({ error: given('error') })
      .where(and(oneRequest, notEnded))
      .prepare(),
  );
  const countMismatch = once(() =>
    db
      .update(t)
      .set({ mismatches: sql`${t.mismatches} + 1` })
      .where(and(oneRequest, pending))
      .prepare(),
  );
  const end = once(() =>
    db
      .update(t)
      .set({
        state: given('as'),
        dataKey: null,
        kekId: null,
        pendingSealed: null,
        endedAt: given('endedAt'),
      })
      .where(and(oneRequest, notEnded))
      .prepare(),
  );
  const close = once(() => {
    const over = (time: typeof t.expiresAt | typeof t.linkExpiresAt) => dialect.least(time, sql.placeholder('at'));
    return db
      .update(t)
      .set({ expiresAt: over(t.expiresAt), linkExpiresAt: over(t.linkExpiresAt) })
      .where(and(itsAccount, notEnded))
      .prepare();
  });
  const purge = once(() =>
    deleteOldest(
      db,
      t,
      t.id,
      and(withinEnvironment, sql`${t.endedAt} is not null and ${t.endedAt} < ${sql.placeholder('before')}`),
      t.endedAt,
    ),
  );

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    byLink: (environmentId, digest) => byLink().get({ environmentId, digest }),
    byRequest: (environmentId, digest) => byRequest().get({ environmentId, digest }),
    due: (environmentId, now, limit) => due().all({ environmentId, now, limit }),
    async countPending(environmentId, accountId) {
      return (await countPending().get({ environmentId, accountId }))?.total ?? 0;
    },
    finishedBefore: (environmentId, { accountId, expiresAt, id }) =>
      finishedBefore().all({ environmentId, accountId, expiresAt, id }),
    async insert(environmentId, request) {
      await insert().run({ ...request, environmentId });
    },
    async extend(environmentId, id, expiresAt) {
      return (await extend().run({ environmentId, id, expiresAt })).changes === 1;
    },
    async finish(environmentId, id, { origins, wrappedDataKey, ...grant }) {
      const dataKey = await dataKeys.add(wrappedDataKey);
      const values = { ...grant, origins: JSON.stringify(origins), dataKey, environmentId, id };
      const isFinished = (await finish().run(values)).changes === 1;
      if (!isFinished) await dataKeys.wipe(dataKey);
      return isFinished;
    },
    async setError(environmentId, id, error) {
      return (await setError().run({ environmentId, id, error })).changes === 1;
    },
    async countMismatch(environmentId, id) {
      return (await countMismatch().run({ environmentId, id })).changes === 1;
    },
    async end(environmentId, id, as, endedAt) {
      return (await end().run({ environmentId, id, as, endedAt })).changes === 1;
    },
    async close(environmentId, accountId, at) {
      return (await close().run({ environmentId, accountId, at })).changes;
    },
    async purge(environmentId, before, limit) {
      return (await purge().run({ environmentId, before, limit })).changes;
    },
  };
}
