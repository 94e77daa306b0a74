import { LIST } from '../../core/budgets.ts';
import { eq, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { Direction, KeysetList } from '../keyset.ts';
import { emptyPage, type Page, type PageRequest, readPage, type Total } from '../page.ts';
import type { AccountSearch, AccountSummaryRow } from '../rows/accounts.ts';
import { connections } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { foldForSearch, foldQuery } from './fold.ts';
import { createIdentifierIndex } from './identifier-index.ts';
import { createPlaceOfCursor, type ListFilter } from './list.ts';
import { createAccountTotals } from './totals.ts';

export type SearchAccounts = (
  environmentId: EnvironmentId,
  search: AccountSearch,
  page: PageRequest,
) => Promise<Page<AccountSummaryRow>>;

type List = KeysetList<AccountSummaryRow, ListFilter>;
/**
 * Reads the first accounts that are older or newer than a position. Without a position, it starts at the newest account
 * for `older`, and at the oldest one for `newer`.
 */
type Source = (direction: Direction, place: number | undefined, limit: number) => Promise<AccountSummaryRow[]>;

/**
 * If at most this many connections match by their names, the list of each is read and the lists are merged. If more
 * match, one query filters all accounts.
 */
const MERGED_CONNECTIONS = 64;
/**
 * A search in a connection with at most this many accounts filters the accounts of the connection. For a larger
 * connection, it reads the matching accounts of the environment from the index of identifiers. Only if there are more
 * than `COUNTED` matches does it filter the accounts of the connection.
 */
const SMALL_CONNECTION = LIST.slice;
/** The maximum number of matches that are counted. */
const COUNTED = LIST.countedBySearch;

/**
 * Searches accounts for a substring, and returns them in the order of the account list. An account matches by its
 * identifier, or by the key or the provider of its connection. Key and provider are the same for all accounts of a
 * connection, so they are searched in the connections; the index only contains identifiers.
 */
export function createAccountSearch(statements: Statements, list: List): SearchAccounts {
  const { db, once, dialect } = statements;
  const totals = createAccountTotals(statements);
  const index = createIdentifierIndex(statements);
  const placeOfCursor = createPlaceOfCursor(statements);
  const names = once(() =>
    db
      .select({ id: connections.id, keyId: connections.keyId, providerKey: connections.providerKey })
      .from(connections)
      .where(eq(connections.environmentId, sql.placeholder('environmentId')))
      .prepare(),
  );

  async function connectionsNamed(environmentId: EnvironmentId, text: string): Promise<string[]> {
    const isNamed = (name: string) => foldForSearch(name).includes(text);
    const all = await names().all({ environmentId });
    return all.filter(({ keyId, providerKey }) => isNamed(keyId) || isNamed(providerKey)).map(({ id }) => id);
  }

  async function sizeOf(environmentId: EnvironmentId, connectionId: string): Promise<number> {
    return (await totals(['connectionId'], { environmentId, connectionId })) ?? 0;
  }

  /** Returns a source that reads from known accounts. @param seqs the positions of the accounts, newest first */
  function among(environmentId: EnvironmentId, seqs: readonly number[]): Source {
    return async (direction, place, limit) => {
      const found = seqs.filter((seq) => place === undefined || (direction === 'older' ? seq < place : seq > place));
      return index.rows(environmentId, (direction === 'older' ? found : found.reverse()).slice(0, limit));
    };
  }

  /**
   * Returns a source of the accounts that match a text with more than `COUNTED` matches. The newest matches were read
   * from the index. Reading further back in the index would become slower and slower, so older accounts are found by
   * reading the table.
   */
  async function frequent(environmentId: EnvironmentId, text: string, newest: readonly number[]): Promise<Source> {
    const known = among(environmentId, newest);
    const walked = await list.rows(environmentId, { text });
    const last = newest.at(-1) ?? 0;
    return async (direction, place, limit) => {
      if (place !== undefined && place < last) return walked(direction, place, limit);
      const rows = await known(direction, place, limit);
      if (direction === 'newer' || rows.length >= limit) return rows;
      return [...rows, ...(await walked('older', last, limit - rows.length))];
    };
  }

  function pageOf(environmentId: EnvironmentId, sources: readonly Source[], total: Total, request: PageRequest) {
    const read = async (direction: Direction, place: number | undefined, limit: number) => {
      const rows = (await Promise.all(sources.map((source) => source(direction, place, limit)))).flat();
      const bySeq = new Map(rows.map((row) => [row.seq, row]));
      const order = direction === 'older' ? -1 : 1;
      return [...bySeq.values()].sort((a, b) => order * (a.seq - b.seq)).slice(0, limit);
    };
    return readPage<AccountSummaryRow, number>(
      {
        newest: (limit) => read('older', undefined, limit),
        older: (place, limit) => read('older', place, limit),
        newer: (place, limit) => read('newer', place, limit),
        total: async () => total,
        placeOf: ({ seq }) => seq,
        placeOfCursor: (id) => placeOfCursor(environmentId, id),
      },
      request,
    );
  }

  /** Finds the accounts of matching connections, and those whose identifier matches. */
  async function everywhere(
    environmentId: EnvironmentId,
    text: string,
    named: readonly string[],
    request: PageRequest,
  ) {
    const ofNamed: Source[] = [];
    let total = 0;
    for (const connectionId of named) {
      ofNamed.push(await list.rows(environmentId, { connectionId }));
      total += await sizeOf(environmentId, connectionId);
    }
    const matches = await index.newest(environmentId, text);
    if (matches.length > COUNTED) {
      const sources = [...ofNamed, await frequent(environmentId, text, matches)];
      return pageOf(environmentId, sources, { total: Math.max(total, COUNTED), totalIsExact: false }, request);
    }
    const others = await index.outside(matches, named);
    const sources = [...ofNamed, among(environmentId, others)];
    return pageOf(environmentId, sources, { total: total + others.length, totalIsExact: true }, request);
  }

  async function within(environmentId: EnvironmentId, text: string, connectionId: string, request: PageRequest) {
    const byText = () => list.page(environmentId, { connectionId, text }, request, { counted: COUNTED });
    if ((await sizeOf(environmentId, connectionId)) <= SMALL_CONNECTION) return byText();
    const matches = await index.newest(environmentId, text);
    if (matches.length > COUNTED) return byText();
    const own = await index.within(matches, connectionId);
    return pageOf(environmentId, [among(environmentId, own)], { total: own.length, totalIsExact: true }, request);
  }

  return async (environmentId, { query, connectionId }, request) => {
    const text = foldQuery(query);
    if (text === undefined) return emptyPage();
    const named = await connectionsNamed(environmentId, text);
    if (connectionId !== undefined) {
      if (named.includes(connectionId)) return list.page(environmentId, { connectionId }, request);
      return within(environmentId, text, connectionId, request);
    }
    if (named.length <= MERGED_CONNECTIONS) return everywhere(environmentId, text, named, request);
    const values = { named: dialect.list(named) };
    return list.page(environmentId, { textOrNamed: text }, request, { counted: COUNTED, values });
  };
}
