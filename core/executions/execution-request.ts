import type { Selector } from '../accounts/selector.ts';
import type { ApiError } from '../errors.ts';
import type { CheckedInput } from '../tools/input.ts';

/** The result of checking an input of a tool that is not in the catalogue. */
export interface CheckedOwnInput {
  /**
   * The tool's `inputHash` when the input was checked. The hash changes with the definition of the tool, and with its
   * overlay (the environment's changes to the tool).
   */
  inputHash: string;
  outcome: CheckedInput | ApiError;
}

export interface ExecutionRequest {
  executionId: string;
  toolName: string;
  toolInput: unknown;
  selector: Selector;
  /** Read all pages of the result and join them. */
  allPages?: boolean | undefined;
  /** The checked input of a tool that is not in the catalogue, from `checkOwnInput`. */
  ownInput?: CheckedOwnInput | undefined;
}
