import { ApiError } from '../errors.ts';

/**
 * Creates the error INVALID_TOOL_INPUT with one entry.
 *
 * @param input the name of the invalid input; undefined if no single input is the cause
 * @param message the rest of a sentence whose subject is the field
 */
export function inputProblem(input: string | undefined, message: string): ApiError {
  const field = input === undefined ? 'tool_input' : `tool_input.${input}`;
  return new ApiError('INVALID_TOOL_INPUT', `${field} ${message}`, { errors: [{ field, message }] });
}
