import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { ToolDirectory } from '../discovery/directory.ts';
import { ApiError } from '../errors.ts';
import type { CheckedInput } from '../tools/input.ts';
import type { OwnInputChecker } from '../tools/own-input.ts';
import type { ExecutionRequest } from './plan.ts';

export interface OwnInputTools {
  toolDirectory: ToolDirectory;
  ownInputs: OwnInputChecker;
}

/** What the check of an input found, for the tool with this content. */
export interface CheckedOwnInput {
  contentHash: string;
  outcome: CheckedInput | ApiError;
}

/**
 * Checks the input of a tool that the environment brought. Its schema may take long, so this happens before the transaction in which
 * the call is planned, and in a thread where it has to. Inputs of tools of the catalogue are checked by the plan.
 *
 * @returns the request with what was found; an error is thrown by the plan, in its order
 */
export async function checkOwnInput(
  read: ReadRepositories,
  { toolDirectory, ownInputs }: OwnInputTools,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
): Promise<ExecutionRequest> {
  const known = await toolDirectory.find(read, environmentId, request.toolName);
  if (known?.contentHash === undefined) return request;
  const { tool, contentHash } = known;
  const outcome = await ownInputs.check(environmentId, tool, request.toolInput).catch((error) => {
    if (error instanceof ApiError) return error;
    throw error;
  });
  return { ...request, ownInput: { contentHash, outcome } };
}

/** @throws ApiError what the check found, or SERVER_BUSY when the tool was changed after it */
export function checkedInput(contentHash: string, checked: CheckedOwnInput | undefined): CheckedInput {
  if (checked?.contentHash !== contentHash) {
    throw new ApiError('SERVER_BUSY', 'The tool was changed while its input was validated. Try again.');
  }
  if (checked.outcome instanceof ApiError) throw checked.outcome;
  return checked.outcome;
}
