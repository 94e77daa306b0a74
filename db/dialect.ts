import type { AnyColumn, AnyTable, SQL, SQLWrapper } from './drizzle.ts';

/** Each table whose rows are numbered by environment. */
export type SequencedTable = 'accounts' | 'executions';

/**
 * What the SQL dialects of the engines write differently. A repository that needs one of these asks the dialect and never writes it
 * itself; all else that a repository writes must mean the same to every engine. Names are those of placeholders.
 */
export interface Dialect {
  /** The parameter at a place (0 for the first). */
  parameter(place: number): string;
  /** Goes before a column whose index is not to be used, where the planner would choose it for lack of statistics. */
  steer: SQL;
  /** The limit that is none. */
  unlimited: number | null;
  greatest(a: SQLWrapper, b: SQLWrapper): SQL;
  least(a: SQLWrapper, b: SQLWrapper): SQL;
  /** Whether a text contains another one, literally. */
  contains(text: SQLWrapper, part: SQLWrapper): SQL;
  /** Whether a value is in the list that is bound to a placeholder. Bind `list(values)`. */
  isIn(value: SQLWrapper, name: string): SQL;
  list(values: readonly (string | number)[]): unknown;
  /** Aggregates the values of a group into a JSON array, as text. */
  jsonArrayOf(value: SQLWrapper): SQL<string>;
  /** Whether a member of a JSON object is a text, apart from white space around the member. */
  hasTrimmedMember(json: SQLWrapper, member: string, value: SQLWrapper): SQL;
  /** Applies a JSON Merge Patch (RFC 7396) to a JSON column. */
  mergePatch(json: SQLWrapper, patch: SQLWrapper): SQL;
  /** Whether an element of a JSON array has a member with this value. */
  hasElement(json: SQLWrapper, member: string, value: SQLWrapper): SQL;
  /** Whether an element of a JSON array has a member that is a list with this value in it. */
  hasElementWith(json: SQLWrapper, listMember: string, value: SQLWrapper): SQL;
  /** The `seq` of the next row of the environment `environmentId`. Null for an unknown environment. */
  nextSeq(table: SequencedTable): SQL<number>;
  /** The column that orders the list of audit records. Where the records are several chains, `seq` does not. */
  auditOrder: 'seq' | 'id';
  /** The index of the folded identifiers of accounts, by substring. */
  search: SearchDialect;
}

export interface SearchDialect {
  table: AnyTable;
  /** The `seq` of the account. */
  seq: AnyColumn;
  /** Whether the row matches the pattern that is bound to a placeholder. */
  matches(name: string): SQL;
  /** The pattern of the texts that contain a folded text literally. */
  pattern(folded: string): string;
}
