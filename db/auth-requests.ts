import { and, count, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuthRequestEnd, AuthRequestRow, NewAuthRequest, PendingGrant } from './rows/auth-requests.ts';
import { authRequests } from './schema.ts';
import type { Statements } from './statements.ts';

export interface AuthRequestReads {
  get(environmentId: EnvironmentId, id: string): Promise<AuthRequestRow | undefined>;
  byLink(environmentId: EnvironmentId, linkDigest: Buffer): Promise<AuthRequestRow | undefined>;
  byRequest(environmentId: EnvironmentId, requestDigest: Buffer): Promise<AuthRequestRow | undefined>;
  /** Those that have not ended although their time is over, the longest overdue first. */
  due(environmentId: EnvironmentId, now: number, limit: number): Promise<AuthRequestRow[]>;
  /** How many of an account's wait to be verified. */
  countPending(environmentId: EnvironmentId, accountId: string): Promise<number>;
  /** Those of the same account that wait to be verified and were finished before this one. */
  finishedBefore(
    environmentId: EnvironmentId,
    request: Pick<AuthRequestRow, 'accountId' | 'expiresAt' | 'id'>,
  ): Promise<AuthRequestRow[]>;
}

export interface AuthRequestWrites {
  insert(environmentId: EnvironmentId, request: NewAuthRequest): Promise<void>;
  /** Lets an open request live on until a time, if it would end before. @returns false when it is not open */
  extend(environmentId: EnvironmentId, id: string, expiresAt: number): Promise<boolean>;
  /** OPEN to PENDING_VERIFICATION, with what was granted. @returns false when it is not open */
  finish(environmentId: EnvironmentId, id: string, grant: PendingGrant): Promise<boolean>;
  /** Counts a wrong identifier. @returns false when the request does not wait to be verified */
  countMismatch(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Ends a request and wipes what it held. @returns false when it has ended before */
  end(environmentId: EnvironmentId, id: string, as: AuthRequestEnd, endedAt: number): Promise<boolean>;
  /** Lets the time of all of an account's requests be over: none of them works any more, and `due` finds them. @returns how many */
  close(environmentId: EnvironmentId, accountId: string, at: number): Promise<number>;
  /** Removes some of what ended before a time, the oldest first, with their flows. @returns how many */
  purge(environmentId: EnvironmentId, endedBefore: number, limit: number): Promise<number>;
}

export type AuthRequestRepository = AuthRequestReads & AuthRequestWrites;

const t = authRequests;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneRequest = and(eq(t.id, sql.placeholder('id')), withinEnvironment) as SQL;
const itsAccount = and(eq(t.accountId, sql.placeholder('accountId')), withinEnvironment) as SQL;
// Literal, so that the partial indexes serve.
const notEnded = sql`${t.endedAt} is null`;
const open = eq(t.state, 'OPEN');
const pending = eq(t.state, 'PENDING_VERIFICATION');
const given = (name: string) => sql`${sql.placeholder(name)}`;

export function createAuthRequestRepository({ db, once, dialect }: Statements): AuthRequestRepository {
  const select = (where: SQL) => once(() => db.select().from(t).where(and(where, withinEnvironment)).prepare());
  const get = select(oneRequest);
  const byLink = select(eq(t.linkDigest, sql.placeholder('digest')));
  const byRequest = select(eq(t.requestDigest, sql.placeholder('digest')));
  const due = once(() =>
    db
      .select()
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
    // All are given the same time to be verified, so the order of their ends is that in which they were finished.
    const earlier = sql`(${t.expiresAt}, ${t.id}) < (${sql.placeholder('expiresAt')}, ${sql.placeholder('id')})`;
    return db
      .select()
      .from(t)
      .where(and(itsAccount, notEnded, pending, earlier))
      .prepare();
  });
  const insert = once(() => {
    const names = ['id', 'environmentId', 'accountId', 'connectionId', 'linkDigest', 'linkExpiresAt', 'identifier'];
    const rest = ['userVerifyUrl', 'callerState', 'createdAt', 'expiresAt'];
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
        wrappedDataKey: given('wrappedDataKey'),
        kekId: given('kekId'),
        pendingSealed: given('pendingSealed'),
        expiresAt: given('expiresAt'),
      })
      .where(and(oneRequest, open))
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
        wrappedDataKey: null,
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
  const purge = once(() => {
    const oldest = db
      .select({ id: t.id })
      .from(t)
      .where(and(withinEnvironment, sql`${t.endedAt} is not null and ${t.endedAt} < ${sql.placeholder('before')}`))
      .orderBy(t.endedAt)
      .limit(sql.placeholder('limit'));
    return db.delete(t).where(sql`${t.id} in ${oldest}`).prepare();
  });

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
    async finish(environmentId, id, { origins, ...grant }) {
      return (await finish().run({ ...grant, origins: JSON.stringify(origins), environmentId, id })).changes === 1;
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
