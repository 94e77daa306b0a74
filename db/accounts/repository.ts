import type { DataKeys } from '../data-keys.ts';
import { and, asc, eq, isNotNull, type SQL, type SQLWrapper, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { Page, PageRequest } from '../page.ts';
import type {
  AccountChanges,
  AccountFilters,
  AccountKey,
  AccountRow,
  AccountSearch,
  AccountShownRow,
  AccountStatus,
  AccountSummaryRow,
  AccountTombstone,
  IdleAccounts,
  NewAccount,
  StatusChange,
} from '../rows/accounts.ts';
import type { JsonObject } from '../rows/json-object.ts';
import { accounts, accountTombstones } from '../schema.ts';
import { environmentRange, environmentRangeAfter } from '../sequence.ts';
import type { Pacing } from '../slices.ts';
import type { Statements } from '../statements.ts';
import { createByKey } from './by-key.ts';
import { ACCOUNT_COLUMNS, SHOWN_COLUMNS } from './columns.ts';
import { createListIdle } from './idle.ts';
import { createInsert } from './insert.ts';
import { createAccountList } from './list.ts';
import { createAccountSearch } from './search.ts';
import { createStatusTotals } from './totals.ts';
import { createUpdate, nextVersion } from './update.ts';

export interface AccountReads {
  get(environmentId: EnvironmentId, id: string): Promise<AccountRow | undefined>;
  /** Returns an account without its encrypted columns, which takes a third less time. */
  shown(environmentId: EnvironmentId, id: string): Promise<AccountShownRow | undefined>;
  /** Returns at most two rows. Two rows mean that the key is ambiguous, and the caller must reject it. */
  byKey(environmentId: EnvironmentId, key: AccountKey): Promise<AccountRow[]>;
  list(environmentId: EnvironmentId, filters: AccountFilters, page: PageRequest): Promise<Page<AccountSummaryRow>>;
  search(environmentId: EnvironmentId, search: AccountSearch, page: PageRequest): Promise<Page<AccountSummaryRow>>;
  /** Lists the accounts of a provider after a `seq`, oldest first. */
  listByProvider(
    environmentId: EnvironmentId,
    provider: string,
    from: { afterSeq?: number; limit: number },
  ): Promise<AccountRow[]>;
  /**
   * Lists the accounts of a connection that have credentials which Valetkey obtained, such as a token, after a `seq`,
   * oldest first.
   */
  listObtained(
    environmentId: EnvironmentId,
    connectionId: string,
    from: { afterSeq?: number; limit: number },
  ): Promise<AccountRow[]>;
  /**
   * Lists a batch of the ACTIVE accounts of a provider and type whose tokens have expired by a given time, longest ago
   * first.
   */
  listIdle(environmentId: EnvironmentId, idle: IdleAccounts): Promise<AccountRow[]>;
  /** Counts the accounts of all environments by status. */
  countByStatus(): Promise<{ status: AccountStatus; total: number }[]>;
  tombstone(environmentId: EnvironmentId, id: string): Promise<AccountTombstone | undefined>;
  /** Whether a connection has an ACTIVE account of this subject at the provider. */
  hasActiveSubject(environmentId: EnvironmentId, connectionId: string, subject: string): Promise<boolean>;
}

export interface AccountWrites {
  /**
   * Inserts an account, and returns it as `get` would.
   *
   * @throws UniqueError `accounts_identity` if the connection has an account with the same key; RelationError if the
   * connection does not exist
   */
  insert(environmentId: EnvironmentId, account: NewAccount): Promise<AccountRow>;
  /** Updates an account if it still has this version. @returns false if its version has changed or it was deleted */
  update(environmentId: EnvironmentId, id: string, version: number, changes: AccountChanges): Promise<boolean>;
  /** Changes the status of an account if it has one of the states `from`. @returns false otherwise */
  setStatus(environmentId: EnvironmentId, id: string, from: AccountStatus[], to: StatusChange): Promise<boolean>;
  /** Changes the status of every account of a provider. @returns how many had another status */
  setStatusByProvider(environmentId: EnvironmentId, provider: string, to: StatusChange): Promise<number>;
  /**
   * Removes the credentials that Valetkey obtained, such as tokens, from the accounts of a connection. Credentials that
   * users or applications supplied stay.
   *
   * @param shown a JSON Merge Patch (RFC 7396) that removes the obtained values from the public details
   * @returns how many accounts had obtained credentials
   */
  forgetObtained(environmentId: EnvironmentId, connectionId: string, shown: JsonObject): Promise<number>;
  /**
   * Stores times of use. This does not change the account, so its version and `updated_at` stay the same. A stored time
   * is never replaced by an earlier one.
   */
  touch(environmentId: EnvironmentId, uses: { id: string; lastUsedAt: number }[]): Promise<void>;
  /** Permanently removes an account and leaves a tombstone. @returns false if it does not exist */
  remove(environmentId: EnvironmentId, id: string, deletedAt: number): Promise<boolean>;
}

export type AccountRepository = AccountReads & AccountWrites;

export interface AccountOptions {
  pacing: Pacing;
  /** Called after each insert, for an engine that adds new accounts to its search index with its own code. */
  accountInserted: () => void;
}

const ENVIRONMENT = sql.placeholder('environmentId');
const ID = sql.placeholder('id');
const oneAccount = and(eq(accounts.id, ID), eq(accounts.environmentId, ENVIRONMENT)) as SQL;
const itsProvider = eq(accounts.provider, sql.placeholder('provider'));
const itsObtained = and(
  eq(accounts.connectionId, sql.placeholder('connectionId')),
  isNotNull(accounts.temporarySealed),
) as SQL;
const statusChange = {
  status: sql`${sql.placeholder('status')}`,
  statusReason: sql`${sql.placeholder('reason')}`,
  updatedAt: sql`${sql.placeholder('updatedAt')}`,
  version: nextVersion,
};

export function createAccountRepository(
  statements: Statements,
  dataKeys: DataKeys,
  { pacing, accountInserted }: AccountOptions,
): AccountRepository {
  const { db, once, dialect } = statements;
  const list = createAccountList(statements, pacing);
  const search = createAccountSearch(statements, list);
  const byKey = createByKey(statements);
  const listIdle = createListIdle(statements);
  const update = createUpdate(statements, dataKeys);
  const get = once(() => db.select(ACCOUNT_COLUMNS).from(accounts).where(oneAccount).prepare());
  const shown = once(() => db.select(SHOWN_COLUMNS).from(accounts).where(oneAccount).prepare());
  const tombstone = once(() =>
    db
      .select()
      .from(accountTombstones)
      .where(and(eq(accountTombstones.id, ID), eq(accountTombstones.environmentId, ENVIRONMENT)))
      .prepare(),
  );
  const hasActiveSubject = once(() => {
    const its = (column: SQLWrapper, name: string) => sql`${column} = ${sql.placeholder(name)}`;
    return db
      .select({ id: accounts.id })
      .from(accounts)
      .where(
        and(
          eq(accounts.environmentId, ENVIRONMENT),
          its(accounts.connectionId, 'connectionId'),
          its(accounts.providerSubject, 'subject'),
          // Prevents the use of the index on the status, because most accounts are ACTIVE, while a user has few
          // accounts at a provider.
          sql`${dialect.noIndex}${accounts.status} = 'ACTIVE'`,
        ),
      )
      .limit(1)
      .prepare();
  });
  const listByProvider = once(() =>
    db
      .select(ACCOUNT_COLUMNS)
      .from(accounts)
      .where(and(environmentRangeAfter(dialect, accounts.seq, sql.placeholder('afterSeq')), itsProvider))
      .orderBy(asc(accounts.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const listObtained = once(() =>
    db
      .select(ACCOUNT_COLUMNS)
      .from(accounts)
      .where(and(environmentRangeAfter(dialect, accounts.seq, sql.placeholder('afterSeq')), itsObtained))
      .orderBy(asc(accounts.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const insert = createInsert(statements, dataKeys);
  const setStatus = once(() => {
    const from = dialect.isIn(accounts.status, 'from');
    return db.update(accounts).set(statusChange).where(and(oneAccount, from)).prepare();
  });
  const setStatusByProvider = once(() =>
    db
      .update(accounts)
      .set(statusChange)
      .where(
        and(environmentRange(accounts.seq).all, itsProvider, sql`${accounts.status} <> ${sql.placeholder('status')}`),
      )
      .prepare(),
  );
  const withoutShown = dialect.mergePatch(accounts.publicDetails, sql.placeholder('shown'));
  const forgetObtained = once(() =>
    db
      .update(accounts)
      .set({ temporarySealed: null, tokenExpiresAt: null, publicDetails: withoutShown, version: nextVersion })
      .where(and(environmentRange(accounts.seq).all, itsObtained))
      .prepare(),
  );
  const touch = once(() => {
    const at = sql.placeholder('lastUsedAt');
    return db
      .update(accounts)
      .set({ lastUsedAt: dialect.greatest(sql`coalesce(${accounts.lastUsedAt}, 0)`, at) })
      .where(oneAccount)
      .prepare();
  });
  const bury = once(() =>
    db
      .insert(accountTombstones)
      .select(
        db
          .select({
            id: accounts.id,
            environmentId: accounts.environmentId,
            seq: accounts.seq,
            generation: accounts.credentialGeneration,
            deletedAt: sql<number>`cast(${sql.placeholder('deletedAt')} as bigint)`.as('deleted_at'),
          })
          .from(accounts)
          .where(oneAccount),
      )
      .prepare(),
  );
  const remove = once(() => db.delete(accounts).where(oneAccount).prepare());

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    shown: (environmentId, id) => shown().get({ environmentId, id }),
    byKey,
    list: (environmentId, filters, page) => list.page(environmentId, filters, page),
    search,
    countByStatus: createStatusTotals(statements),
    listByProvider: (environmentId, provider, { afterSeq = 0, limit }) =>
      listByProvider().all({ environmentId, provider, afterSeq, limit }),
    listObtained: (environmentId, connectionId, { afterSeq = 0, limit }) =>
      listObtained().all({ environmentId, connectionId, afterSeq, limit }),
    listIdle,
    tombstone: (environmentId, id) => tombstone().get({ environmentId, id }),
    async hasActiveSubject(environmentId, connectionId, subject) {
      return (await hasActiveSubject().get({ environmentId, connectionId, subject })) !== undefined;
    },
    async insert(environmentId, account) {
      const inserted = await insert(environmentId, account);
      accountInserted();
      return inserted;
    },
    update,
    async setStatus(environmentId, id, from, { status, reason, updatedAt }) {
      const values = { environmentId, id, from: dialect.list(from), status, reason, updatedAt };
      return (await setStatus().run(values)).changes === 1;
    },
    async setStatusByProvider(environmentId, provider, { status, reason, updatedAt }) {
      return (await setStatusByProvider().run({ environmentId, provider, status, reason, updatedAt })).changes;
    },
    async forgetObtained(environmentId, connectionId, shown) {
      return (await forgetObtained().run({ environmentId, connectionId, shown: JSON.stringify(shown) })).changes;
    },
    async touch(environmentId, uses) {
      await Promise.all(uses.map(({ id, lastUsedAt }) => touch().run({ environmentId, id, lastUsedAt })));
    },
    async remove(environmentId, id, deletedAt) {
      if ((await bury().run({ environmentId, id, deletedAt })).changes === 0) return false;
      return (await remove().run({ environmentId, id })).changes === 1;
    },
  };
}
