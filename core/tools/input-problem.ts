import { ApiError } from '../errors.ts';

/**
 * The error for an input that matches the tool's schema but cannot be used in the request.
 *
 * @param input the name of the input, or undefined if the value did not come from one
 * @param message the rest of a sentence whose subject is the field
 */
export function inputProblem(input: string | undefined, message: string): ApiError {
  const field = input === undefined ? 'tool_input' : `tool_input.${input}`;
  return new ApiError('INVALID_TOOL_INPUT', `${field} ${message}`, { errors: [{ field, message }] });
}
