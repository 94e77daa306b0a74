import type { Dialect } from '../dialect.ts';
import { and, eq, type SQL, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import { createKeysetList, type Filter, type KeysetList } from '../keyset.ts';
import { countUpTo, mostSelective, placesOf } from '../large-list.ts';
import type { AccountFilters, AccountSummaryRow } from '../rows/accounts.ts';
import { accounts, accountTombstones, connections } from '../schema.ts';
import { environmentRange } from '../sequence.ts';
import type { Pacing } from '../slices.ts';
import type { Statements } from '../statements.ts';
import { SUMMARY_COLUMNS } from './columns.ts';
import { createAccountTotals, isCounted } from './totals.ts';

/**
 * The filters of the list. In addition to the public ones, `text` matches accounts whose identifier contains a folded
 * text. `textOrNamed` matches these accounts and those of the connections in the placeholder `named`.
 */
export type ListFilter = keyof AccountFilters | 'text' | 'textOrNamed';

const ENVIRONMENT = sql.placeholder('environmentId');
const LIMIT = sql.placeholder('limit');

/**
 * Selects the id of the connection whose key is the placeholder `connector`. With the id, the index of the accounts of
 * a connection can be used.
 */
export const CONNECTION_OF_CONNECTOR = sql`(select ${connections.id} from ${connections}
  where ${connections.environmentId} = ${ENVIRONMENT} and ${connections.keyId} = ${sql.placeholder('connector')})`;

/** The literal `<> ''` lets the database use a partial index. */
const filtersOf = ({ contains, isIn }: Dialect): Record<ListFilter, Filter> => ({
  userId: (noIndex) =>
    sql`${noIndex}${accounts.userId} = ${sql.placeholder('userId')} and ${noIndex}${accounts.userId} <> ''`,
  identifier: (noIndex) => sql`${noIndex}${accounts.identifier} = ${sql.placeholder('identifier')}`,
  organizationId: (noIndex) =>
    sql`${noIndex}${accounts.organizationId} = ${sql.placeholder('organizationId')} and ${noIndex}${accounts.organizationId} <> ''`,
  connectionId: (noIndex) => sql`${noIndex}${accounts.connectionId} = ${sql.placeholder('connectionId')}`,
  connector: (noIndex) => sql`${noIndex}${accounts.connectionId} = ${CONNECTION_OF_CONNECTOR}`,
  provider: (noIndex) => sql`${noIndex}${accounts.provider} = ${sql.placeholder('provider')}`,
  status: (noIndex) => sql`${noIndex}${accounts.status} = ${sql.placeholder('status')}`,
  text: () => contains(accounts.searchText, sql.placeholder('text')),
  textOrNamed: () => sql`(${contains(accounts.searchText, sql.placeholder('textOrNamed'))}
    or ${isIn(accounts.connectionId, 'named')})`,
});

/**
 * If the filter `organizationId` is given, its index is used, unless a filter with a maintained total matches at most
 * this many accounts. The total of `organizationId` is not maintained, so the two filters cannot be compared.
 */
const FEW = 1000;

/** The list of accounts, in the order of their creation. */
export function createAccountList(statements: Statements, pacing: Pacing): KeysetList<AccountSummaryRow, ListFilter> {
  const { db, dialect } = statements;
  const totals = createAccountTotals(statements);
  return createKeysetList<AccountSummaryRow, ListFilter>(statements, {
    order: accounts.seq,
    scope: environmentRange(accounts.seq),
    filters: filtersOf(dialect),
    select: (where, order) =>
      db
        .select(SUMMARY_COLUMNS)
        .from(accounts)
        .where(and(where, eq(accounts.environmentId, ENVIRONMENT)))
        .orderBy(order)
        .limit(LIMIT)
        .prepare(),
    count: (where) => countUpTo(db, accounts, where),
    keptTotal: totals,
    placeOf: (row) => row.seq,
    placeOfCursor: createPlaceOfCursor(statements),
    large: {
      lead: leadingFilter,
      places: (where, order) => placesOf(db, accounts, accounts.seq, where, order),
      pacing,
    },
  });

  /**
   * Returns the filter whose index is used. A user and an identifier have few accounts, so these filters come first.
   * Among the filters with a maintained total, the one with the fewest rows is used. If `organizationId` is given, it
   * has precedence over that filter, unless that filter has at most `FEW` rows.
   */
  async function leadingFilter(names: ListFilter[], values: Record<string, unknown>): Promise<ListFilter | undefined> {
    const selective = names.find((name) => name === 'userId' || name === 'identifier');
    if (selective) return selective;
    const rarest = await mostSelective(names.filter(isCounted), async (name) => (await totals([name], values)) ?? 0);
    if (names.includes('organizationId') && !(rarest && rarest.total <= FEW)) return 'organizationId';
    return rarest?.name;
  }
}

/**
 * Creates the function that returns the position (`seq`) of a cursor. A cursor is the id of an account. If the account
 * was deleted since, its tombstone has the position; if there is none, the function returns undefined.
 */
export function createPlaceOfCursor({
  db,
  once,
}: Statements): (environmentId: EnvironmentId, id: string) => Promise<number | undefined> {
  const find = (table: typeof accounts | typeof accountTombstones) =>
    once(() => {
      const where = and(eq(table.id, sql.placeholder('id')), eq(table.environmentId, ENVIRONMENT)) as SQL;
      return db.select({ seq: table.seq }).from(table).where(where).prepare();
    });
  const [present, removed] = [find(accounts), find(accountTombstones)];
  return async (environmentId, id) =>
    ((await present().get({ environmentId, id })) ?? (await removed().get({ environmentId, id })))?.seq;
}
