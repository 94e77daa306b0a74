import type { CredentialNote, ImportReport, LeftOut, Note, OperationRef } from './report.ts';

/** A report with limited size, for the API and the command line. */
export interface ReportSummary extends ImportReport {
  /** The number of operations that were not imported, by reason. */
  left_out_counts: Record<string, number>;
  /** The number of notes, by kind. */
  note_counts: Record<string, number>;
}

/** The maximum number of entries in each list. The counts include all entries. */
const MAX = { leftOut: 500, notes: 500, credentials: 100, warnings: 100 };
/** In UTF-16 code units. A name in a document can have megabytes. */
const MAX_NAME = 300;
const MAX_DETAIL = 500;

/** Counts and shortens the lists of a report. */
export function summarizeReport({
  left_out,
  notes,
  credentials,
  warnings,
  operations,
  imported,
}: ImportReport): ReportSummary {
  const more = warnings.length - MAX.warnings;
  return {
    operations,
    imported,
    left_out_counts: count(left_out.map(({ reason }) => reason)),
    left_out: left_out.slice(0, MAX.leftOut).map(shortLeftOut),
    note_counts: count(notes.map(({ kind }) => kind)),
    notes: notes.slice(0, MAX.notes).map(shortNote),
    credentials: credentials.slice(0, MAX.credentials).map(shortCredential),
    warnings: [
      ...warnings.slice(0, MAX.warnings).map((warning) => cut(warning, MAX_DETAIL)),
      ...(more > 0 ? [`${more} more warnings are not shown.`] : []),
    ],
  };
}

function shortLeftOut({ reason, detail, ...ref }: LeftOut): LeftOut {
  return { ...shortRef(ref), reason, ...(detail !== undefined && { detail: cut(detail, MAX_DETAIL) }) };
}

function shortNote({ kind, detail, ...ref }: Note): Note {
  return { ...shortRef(ref), kind, detail: cut(detail, MAX_DETAIL) };
}

function shortCredential({ scheme, type, detail }: CredentialNote): CredentialNote {
  return { scheme: cut(scheme, MAX_NAME), ...(type !== undefined && { type }), detail: cut(detail, MAX_DETAIL) };
}

function shortRef({ source_id, operation_id }: OperationRef): OperationRef {
  return {
    source_id: cut(source_id, MAX_NAME),
    ...(operation_id !== undefined && { operation_id: cut(operation_id, MAX_NAME) }),
  };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

function count(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
