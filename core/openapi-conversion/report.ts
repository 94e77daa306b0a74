/**
 * Why an operation was not converted to a tool. `UNREADABLE` means that the operation contradicts itself or the
 * standard.
 */
export const LEFT_OUT_REASONS = {
  DEPRECATED: 'The document marks the operation as deprecated.',
  EXCLUDED: 'The document, an overlay or a filter excludes the operation.',
  OVER_LIMIT: 'More operations were selected than the limit allows. Raise the limit, or select tags.',
  METHOD: 'Only GET, HEAD, POST, PUT, PATCH and DELETE can become tools.',
  OTHER_SERVER: 'The operation is on another host than most operations, and a provider has one host.',
  PATH: 'The path cannot be written as one URL without a fragment, dot segments or empty segments.',
  UNREADABLE: 'The definition of the operation contradicts itself or the OpenAPI standard.',
} as const;

export type LeftOutReason = keyof typeof LEFT_OUT_REASONS;

/** An operation, identified by its method and path as in the document. */
export interface OperationRef {
  source_id: string;
  operation_id?: string;
}

export interface LeftOut extends OperationRef {
  reason: LeftOutReason;
  detail?: string;
}

/** The kinds of notes about a converted operation. Most of them name a part that was omitted or changed. */
export const NOTE_KINDS = {
  SCHEMA_CUT: 'The input schema was truncated: too deep, too large, or recursive.',
  LARGE: "The tool takes more than 8 KB of a model's context; an overlay can hide inputs.",
  INPUT_RENAMED: 'An input has a different name than its parameter.',
  INPUT_HIDDEN: 'A parameter is omitted: a credential, a protocol header, or a parameter that callers do not need.',
  INPUT_FIXED: 'A parameter with only one allowed value, or with a value that an overlay fixes, is always sent.',
  INPUT_DROPPED: 'An input that cannot be described is omitted.',
  NAME_CHANGED: 'The name differs from the operation id.',
  BODY_IGNORED: 'A body of GET or HEAD is not sent (OpenAPI 3.0 §4.7.10).',
  PATH_UNDECLARED: 'The path uses a parameter that is not declared; it is treated as a string.',
} as const;

export type NoteKind = keyof typeof NOTE_KINDS;

export interface Note extends OperationRef {
  kind: NoteKind;
  detail: string;
}

/** A security scheme, and how it was converted. */
export interface CredentialNote {
  scheme: string;
  /** The corresponding authorization type; omitted if there is none. */
  type?: string;
  detail: string;
}

export interface ImportReport {
  operations: number;
  imported: number;
  left_out: LeftOut[];
  notes: Note[];
  credentials: CredentialNote[];
  /** Problems of the whole document, for example of its servers, or overlay targets that selected nothing. */
  warnings: string[];
}
