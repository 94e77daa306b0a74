import type { AnyColumn, AnyTable, SQL, SQLWrapper } from './drizzle.ts';

/** The tables with a column `seq` that numbers the rows of each environment. */
export type SequencedTable = 'accounts' | 'executions';

/**
 * The parts of SQL that engines write differently. A repository must take these from the dialect; everything else that
 * it writes must have the same meaning in every engine. A parameter `name` is the name of a placeholder.
 */
export interface Dialect {
  /** Returns the text of the parameter at an index (0 for the first). */
  parameter(place: number): string;
  /** Written before a column whose index must not be used, for engines whose planner has no statistics. */
  noIndex: SQL;
  /** The value of `limit` that means no limit. */
  unlimited: number | null;
  greatest(a: SQLWrapper, b: SQLWrapper): SQL;
  least(a: SQLWrapper, b: SQLWrapper): SQL;
  /** Whether a text literally contains another one. */
  contains(text: SQLWrapper, part: SQLWrapper): SQL;
  /** Whether a value is in the list that is bound to a placeholder. Bind `list(values)`. */
  isIn(value: SQLWrapper, name: string): SQL;
  list(values: readonly (string | number)[]): unknown;
  /** Aggregates the values of a group into a JSON array, as text. */
  jsonArrayOf(value: SQLWrapper): SQL<string>;
  /** Whether a member of a JSON object equals a text, ignoring white space around the member. */
  hasTrimmedMember(json: SQLWrapper, member: string, value: SQLWrapper): SQL;
  /** Applies a JSON Merge Patch (RFC 7396) to a JSON column. */
  mergePatch(json: SQLWrapper, patch: SQLWrapper): SQL;
  /** Whether an element of a JSON array has a member with this value. */
  hasElement(json: SQLWrapper, member: string, value: SQLWrapper): SQL;
  /** Whether an element of a JSON array has a list member that contains this value. */
  hasElementWith(json: SQLWrapper, listMember: string, value: SQLWrapper): SQL;
  /**
   * The clock for comparing times of different processes, in milliseconds UTC: the clock of the database if several
   * processes can use it, otherwise the given time.
   */
  clock(given: SQLWrapper): SQL<number>;
  /** A clause at the end of a selection of rows to be changed. It skips rows that another transaction is changing. */
  skipLocked: SQL;
  /** The `seq` of the next row in the environment `environmentId`; null for an unknown environment. */
  nextSeq(table: SequencedTable): SQL<number>;
  /**
   * The column that orders the list of audit records. If an environment has several chains of records, `seq` does not
   * order the records by time.
   */
  auditOrder: 'seq' | 'id';
  /**
   * The column by which the search for the oldest executions orders the blocks (ranges of consecutive executions): the
   * number of the block, or a time for which the engine has an index.
   */
  blockOrder: 'block' | 'firstStartedAt';
  /**
   * The condition and the order of the query for one end of a time range: the first block with executions since
   * `:from`, or the last one with executions before `:before`. The query searches between the blocks `:firstBlock` and
   * `:lastBlock`. An engine with many blocks has an index for it.
   */
  blockEdges: Record<'first' | 'last', { where: SQL; order: SQL }>;
  /**
   * Whether the slot (row of `data_keys`) of a deleted data key is overwritten and used again. An engine that never
   * updates in place deletes the row instead.
   */
  reusesSlots: boolean;
  /** The substring index of the folded identifiers of accounts. */
  search: SearchDialect;
}

export interface SearchDialect {
  table: AnyTable;
  /** The `seq` of the account. */
  seq: AnyColumn;
  /** Whether the row belongs to the environment, and matches the pattern that is bound to a placeholder. */
  matches(name: string): SQL;
  /** Returns the pattern for texts that literally contain a folded text. */
  pattern(folded: string): string;
}
