import { ApiError } from '../errors.ts';
import type { Tool } from './tool.ts';

/**
 * Adds the inputs that an overlay (an environment's changes to a tool) presets.
 *
 * @param input the input of the caller, without the cursor
 * @throws ApiError INVALID_TOOL_INPUT if the caller sets one of them, even to the same value
 */
export function withPresetInputs(
  { restriction }: Pick<Tool, 'restriction'>,
  input: Record<string, unknown>,
): Record<string, unknown> {
  if (!restriction) return input;
  const { presetInputs } = restriction;
  const given = Object.keys(presetInputs).filter((name) => Object.hasOwn(input, name));
  if (given.length > 0) {
    throw new ApiError('INVALID_TOOL_INPUT', `The environment presets these inputs: ${given.join(', ')}. Omit them.`, {
      errors: given.map((name) => ({
        field: `tool_input.${name}`,
        message: 'must be omitted: the environment presets it',
      })),
    });
  }
  // A copy, because validation may fill in defaults inside a value.
  return { ...input, ...structuredClone(presetInputs) };
}
