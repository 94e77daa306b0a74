/** Why an operation became no tool: the closed list of reasons of policy, and `UNREADABLE` for what contradicts itself. */
export const LEFT_OUT_REASONS = {
  DEPRECATED: 'The document calls it deprecated.',
  EXCLUDED: 'The document, an overlay or a filter excludes it.',
  OVER_LIMIT: 'More operations were selected than the limit allows.',
  METHOD: 'Tools are GET, HEAD, POST, PUT, PATCH and DELETE.',
  OTHER_SERVER: 'It stands on another host than the rest, and a provider has one.',
  PATH: 'Its path cannot be written as one address without a fragment, dot segments or empty segments.',
  UNREADABLE: 'It contradicts itself or the standard.',
} as const;

export type LeftOutReason = keyof typeof LEFT_OUT_REASONS;

/** An operation by the key that locks its name: the method and the path, as the document writes them. */
export interface OperationRef {
  source_id: string;
  operation_id?: string;
}

export interface LeftOut extends OperationRef {
  reason: LeftOutReason;
  detail?: string;
}

/** What an operation lost on its way to a tool. */
export const NOTE_KINDS = {
  SCHEMA_CUT: 'The input schema was cut: too deep, too large, or it holds itself.',
  LARGE: 'The tool costs a model more than 8 KB; an overlay can hide inputs.',
  INPUT_RENAMED: 'An input has another name than the parameter it fills.',
  INPUT_HIDDEN: 'A parameter is not offered: a credential, a header of the protocol, or noise.',
  INPUT_FIXED: 'A parameter with one allowed value is always sent.',
  INPUT_DROPPED: 'A member cannot be expressed and is not offered.',
  NAME_CHANGED: 'The name is not the operation id.',
  BODY_IGNORED: 'A body of GET or HEAD is not sent (OpenAPI 3.0 §4.7.10).',
  PATH_UNDECLARED: 'The path names a parameter that is not declared; it is taken as a text.',
} as const;

export type NoteKind = keyof typeof NOTE_KINDS;

export interface Note extends OperationRef {
  kind: NoteKind;
  detail: string;
}

/** A security scheme, and what became of it. */
export interface CredentialNote {
  scheme: string;
  /** The authorization type that stands for it; absent when none can. */
  type?: string;
  detail: string;
}

export interface ImportReport {
  operations: number;
  imported: number;
  left_out: LeftOut[];
  notes: Note[];
  credentials: CredentialNote[];
  /** What concerns the whole document: its servers, overlay targets that selected nothing. */
  warnings: string[];
}
