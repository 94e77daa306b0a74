import type { ErrorCode, FieldError } from '../errors.ts';

export interface ThreadRequest {
  /** Address of the module that runs the job. */
  module: string;
  input: unknown;
}

export type ThreadReply =
  /** The module is loaded; the job begins. */
  | { kind: 'started' }
  | { kind: 'done'; output: unknown }
  /** The job threw an ApiError. */
  | {
      kind: 'refused';
      code: ErrorCode;
      detail: string;
      errors: FieldError[] | undefined;
      extra: Record<string, unknown> | undefined;
    };
