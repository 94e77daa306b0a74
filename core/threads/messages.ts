import type { ErrorCode, FieldError } from '../errors.ts';

export interface ThreadRequest {
  /** The address of the job's module. */
  module: string;
  input: unknown;
}

export type ThreadReply =
  /** The module is loaded, and the job begins. */
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
