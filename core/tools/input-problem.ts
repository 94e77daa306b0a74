import { ApiError } from '../errors.ts';

/**
 * Creates the error for an input that matches the tool's schema but cannot be used in the request.
 *
 * @param input the name of the input; undefined if the value does not come from a single input
 * @param message the rest of a sentence whose subject is the field
 */
export function inputProblem(input: string | undefined, message: string): ApiError {
  const field = input === undefined ? 'tool_input' : `tool_input.${input}`;
  return new ApiError('INVALID_TOOL_INPUT', `${field} ${message}`, { errors: [{ field, message }] });
}
