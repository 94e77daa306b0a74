import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ToolDirectory } from '../discovery/directory.ts';
import { ApiError } from '../errors.ts';
import type { CheckedInput } from '../tools/input.ts';
import type { OwnInputChecker } from '../tools/own-input.ts';
import type { CheckedOwnInput, ExecutionRequest } from './execution-request.ts';

export interface OwnInputDeps {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
  ownInputs: OwnInputChecker;
}

/**
 * Checks the input of a tool that is not in the catalogue (a custom tool or a tool of an MCP server). Validation with
 * the tool's schema may be slow, so it is done before the call is planned, and in a thread if necessary. Inputs of
 * catalogue tools are checked by `planExecution`.
 *
 * @returns the request with the result of the check, or unchanged for a catalogue tool, an unknown tool and a tool that
 * must not be called. If the input is invalid, `planExecution` throws the error after its own earlier checks, so that
 * their errors take precedence
 */
export async function checkOwnInput(
  read: ReadRepositories,
  { catalogue, toolDirectory, ownInputs }: OwnInputDeps,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
): Promise<ExecutionRequest> {
  // A catalogue tool takes precedence over other tools with its name, including tools that overlays renamed.
  if (catalogue.tool(request.toolName)) return request;
  const known = await toolDirectory.find(read, environmentId, request.toolName);
  if (known?.inputHash === undefined || known.withheld !== undefined) return request;
  const { tool, inputHash } = known;
  const outcome = await ownInputs.check(environmentId, tool, request.toolInput).catch((error) => {
    if (error instanceof ApiError) return error;
    throw error;
  });
  return { ...request, ownInput: { inputHash, outcome } };
}

/**
 * Returns the checked input.
 *
 * @throws ApiError from the check, or SERVER_BUSY if the tool was added or changed after the check
 */
export function checkedInput(inputHash: string, checked: CheckedOwnInput | undefined): CheckedInput {
  if (checked?.inputHash !== inputHash) {
    throw new ApiError('SERVER_BUSY', 'The tool was changed while its input was validated. Try again.');
  }
  if (checked.outcome instanceof ApiError) throw checked.outcome;
  return checked.outcome;
}
