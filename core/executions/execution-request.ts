import type { Selector } from '../accounts/selector.ts';
import type { ApiError } from '../errors.ts';
import type { CheckedInput } from '../tools/input.ts';

/** The result of checking an input against the tool with this content hash. */
export interface CheckedOwnInput {
  contentHash: string;
  outcome: CheckedInput | ApiError;
}

export interface ExecutionRequest {
  executionId: string;
  toolName: string;
  toolInput: unknown;
  selector: Selector;
  /** Read all pages of the result and join them. */
  allPages?: boolean | undefined;
  /** The checked input of a tool that the environment added, from `checkOwnInput`. */
  ownInput?: CheckedOwnInput | undefined;
}
