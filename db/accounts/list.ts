import { type Db, once, oncePerShape } from '../database.ts';
import { and, count, eq, type SQL, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import { createKeysetList, type Filter, type KeysetList } from '../keyset.ts';
import type { Page, PageRequest } from '../page.ts';
import { accountCounts, accounts, accountsSearch, accountTombstones, connections } from '../schema.ts';
import { createTotal, environmentRange } from '../sequence.ts';
import { matchPhrase } from './fold.ts';
import { type AccountFilters, type AccountSearch, type AccountSummaryRow, SUMMARY_COLUMNS } from './rows.ts';

const ENVIRONMENT = sql.placeholder('environmentId');
const LIMIT = sql.placeholder('limit');

/** A connector is the key of one connection, so the connection's index serves. */
export const CONNECTION_OF_CONNECTOR = sql`(select ${connections.id} from ${connections}
  where ${connections.environmentId} = ${ENVIRONMENT} and ${connections.keyId} = ${sql.placeholder('connector')})`;

/** The literal `<> ''` is what lets a partial index serve. */
const FILTERS: Record<keyof AccountFilters, Filter> = {
  userId: (steer) =>
    sql`${steer}${accounts.userId} = ${sql.placeholder('userId')} and ${steer}${accounts.userId} <> ''`,
  identifier: (steer) => sql`${steer}${accounts.identifier} = ${sql.placeholder('identifier')}`,
  organizationId: (steer) =>
    sql`${steer}${accounts.organizationId} = ${sql.placeholder('organizationId')} and ${steer}${accounts.organizationId} <> ''`,
  connectionId: (steer) => sql`${steer}${accounts.connectionId} = ${sql.placeholder('connectionId')}`,
  connector: (steer) => sql`${steer}${accounts.connectionId} = ${CONNECTION_OF_CONNECTOR}`,
  provider: (steer) => sql`${steer}${accounts.provider} = ${sql.placeholder('provider')}`,
  status: (steer) => sql`${steer}${accounts.status} = ${sql.placeholder('status')}`,
};

/** The list of accounts, in the order of their creation. */
export function createAccountList(db: Db): KeysetList<AccountSummaryRow, keyof AccountFilters> {
  return createKeysetList<AccountSummaryRow, keyof AccountFilters>({
    order: accounts.seq,
    scope: environmentRange(accounts.seq),
    filters: FILTERS,
    select: (where, order) =>
      db
        .select(SUMMARY_COLUMNS)
        .from(accounts)
        .where(and(where, eq(accounts.environmentId, ENVIRONMENT)))
        .orderBy(order)
        .limit(LIMIT)
        .prepare(),
    count: (where) => db.select({ total: count() }).from(accounts).where(where).prepare(),
    keptTotal: createKeptTotal(db),
    placeOf: (row) => row.seq,
    placeOfCursor: createPlaceOfCursor(db),
  });
}

/** What `account_counts` can tell: its rows lead to the connection, its key and its provider, and to the status. */
const COUNTED: Partial<Record<keyof AccountFilters, SQL>> = {
  connectionId: eq(connections.id, sql.placeholder('connectionId')),
  connector: eq(connections.keyId, sql.placeholder('connector')),
  provider: eq(connections.providerKey, sql.placeholder('provider')),
  status: eq(accountCounts.status, sql.placeholder('status')),
};

function createKeptTotal(db: Db) {
  const unfiltered = createTotal(db, 'accounts');
  const sums = oncePerShape<{ get(values: Record<string, unknown>): { total: number } | undefined }>();
  return (names: (keyof AccountFilters)[], values: Record<string, unknown>): number | undefined => {
    if (names.length === 0) return unfiltered(names, values);
    if (!names.every((name) => name in COUNTED)) return undefined;
    const statement = sums(names.join(), () =>
      db
        .select({ total: sql<number>`coalesce(sum(${accountCounts.total}), 0)` })
        .from(connections)
        .innerJoin(accountCounts, eq(accountCounts.connectionId, connections.id))
        .where(and(eq(connections.environmentId, ENVIRONMENT), ...names.map((name) => COUNTED[name])))
        .prepare(),
    );
    return statement.get(values)?.total ?? 0;
  };
}

/** Substring search over the trigram index, in the same order. */
export function createAccountSearch(
  db: Db,
): (environmentId: EnvironmentId, search: AccountSearch, page: PageRequest) => Page<AccountSummaryRow> {
  const list = createKeysetList<AccountSummaryRow, 'phrase' | 'connectionId'>({
    order: accountsSearch.rowid,
    scope: environmentRange(accountsSearch.rowid),
    filters: {
      phrase: () => sql`${accountsSearch} match ${sql.placeholder('phrase')}`,
      // Looked up for each match, so the count needs no other table where this filter is absent.
      connectionId: () => sql`(select ${accounts.connectionId} from ${accounts}
        where ${accounts.seq} = ${accountsSearch.rowid}) = ${sql.placeholder('connectionId')}`,
    },
    select: (where, order) =>
      db
        .select(SUMMARY_COLUMNS)
        .from(accountsSearch)
        .innerJoin(accounts, eq(accounts.seq, accountsSearch.rowid))
        .where(and(where, eq(accounts.environmentId, ENVIRONMENT)))
        .orderBy(order)
        .limit(LIMIT)
        .prepare(),
    count: (where) => db.select({ total: count() }).from(accountsSearch).where(where).prepare(),
    placeOf: (row) => row.seq,
    placeOfCursor: createPlaceOfCursor(db),
  });
  return (environmentId, { query, connectionId }, page) => {
    const phrase = matchPhrase(query);
    if (phrase === undefined) return { rows: [], hasNext: false, hasPrevious: false, total: 0 };
    return list.page(environmentId, { phrase, connectionId }, page);
  };
}

/** A cursor is the id of an account that was on a page, and may have been removed since: its tombstone keeps the place. */
function createPlaceOfCursor(db: Db): (environmentId: EnvironmentId, id: string) => number | undefined {
  const find = (table: typeof accounts | typeof accountTombstones) =>
    once(() => {
      const where = and(eq(table.id, sql.placeholder('id')), eq(table.environmentId, ENVIRONMENT)) as SQL;
      return db.select({ seq: table.seq }).from(table).where(where).prepare();
    });
  const [present, removed] = [find(accounts), find(accountTombstones)];
  return (environmentId, id) => (present().get({ environmentId, id }) ?? removed().get({ environmentId, id }))?.seq;
}
