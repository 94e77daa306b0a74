import type { UpstreamResponse } from '../tools/execute.ts';
import { atPointer, isRecord } from '../tools/pointer.ts';
import { judgeFailure, type WarehouseFailure } from './warehouse-failure.ts';

export type StatementState = 'running' | 'finished' | 'failed' | 'aborted';

export interface StatementDescription {
  state: StatementState;
  /** Whether rows can be asked for. */
  hasResult: boolean;
  /** Why it failed, in the warehouse's words. */
  error: string | null;
}

/** A whole number that a double cannot hold exactly is a text. */
export type Cell = string | number | boolean | null;

export interface StatementResult {
  columns: { name: string; type: string }[];
  rows: Cell[][];
  totalRows: number | null;
  nextToken: string | null;
}

export type Judged<T> = { ok: true; value: T } | WarehouseFailure;

const STATES: Readonly<Record<string, StatementState>> = {
  SUBMITTED: 'running',
  PICKED: 'running',
  STARTED: 'running',
  FINISHED: 'finished',
  FAILED: 'failed',
  ABORTED: 'aborted',
};

/** Judges the answer to `executeStatement`: the id of the statement. */
export function judgeExecution(answer: UpstreamResponse): Judged<{ id: string }> {
  return judged(answer, ({ Id: id }) => (typeof id === 'string' && id !== '' ? { id } : undefined));
}

/** Judges the answer to `describeStatement`. A statement that failed is a success of the question. */
export function judgeDescription(answer: UpstreamResponse): Judged<StatementDescription> {
  return judged(answer, ({ Status: status, HasResultSet: hasResult, Error: error }) => {
    const state = typeof status === 'string' && Object.hasOwn(STATES, status) ? STATES[status] : undefined;
    if (state === undefined) return undefined;
    return { state, hasResult: hasResult === true, error: typeof error === 'string' ? error : null };
  });
}

/** Judges the answer to `getStatementResult`: one page. */
export function judgeResult(answer: UpstreamResponse): Judged<StatementResult> {
  return judged(answer, ({ ColumnMetadata: columns, Records: records, TotalNumRows: total, NextToken: next }) => {
    if (!Array.isArray(columns) || !Array.isArray(records) || !records.every(Array.isArray)) return undefined;
    return {
      columns: columns.map((column) => ({ name: textAt(column, '/name'), type: textAt(column, '/typeName') })),
      rows: records.map((record: unknown[]) => record.map(cellOf)),
      totalRows: typeof total === 'number' ? total : null,
      nextToken: typeof next === 'string' && next !== '' ? next : null,
    };
  });
}

function judged<T>(answer: UpstreamResponse, read: (body: Record<string, unknown>) => T | undefined): Judged<T> {
  const body = parse(answer.body.toString());
  if (answer.status !== 200) return judgeFailure(answer, body);
  const value = isRecord(body) ? read(body) : undefined;
  if (value !== undefined) return { ok: true, value };
  const message = 'The warehouse gave an answer that cannot be understood.';
  return { ok: false, kind: 'upstream_invalid_response', code: null, message };
}

function textAt(value: unknown, pointer: string): string {
  const text = atPointer(value, pointer);
  return typeof text === 'string' ? text : '';
}

/** A field says by its name what it holds; one of `isNull`, `stringValue`, `longValue`, `doubleValue`, `booleanValue`, `blobValue`. */
function cellOf(field: unknown): Cell {
  if (!isRecord(field) || field['isNull'] === true) return null;
  const [value] = Object.values(field);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, exactly);
  } catch {
    return undefined;
  }
}

/** Whole numbers of 64 bits keep their digits. The context is part of ECMAScript 2026; the types do not know it yet. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return context?.source !== undefined && /^-?\d+$/.test(context.source) ? context.source : value;
}
