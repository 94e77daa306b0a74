import type { EnvironmentId, ToolOverlayRow } from '../../db/store.ts';
import { ApiError, type FieldError } from '../errors.ts';
import type { OwnInputChecker } from '../tools/own-input.ts';
import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';
import { isSecretInput } from './apply-overlay.ts';
import { isListInput, propertiesOf } from './restrict-schema.ts';

export interface CheckOverlayDeps {
  ownInputs: OwnInputChecker;
}

type Inputs = Readonly<Record<string, unknown>>;

/**
 * Checks the values of an overlay against the input schema of its tool. Call it before the transaction that stores the
 * overlay, because checks against a schema may be slow.
 *
 * @param tool the tool without an overlay
 * @returns the invalid fields
 */
export async function checkOverlay(
  { ownInputs }: CheckOverlayDeps,
  environmentId: EnvironmentId,
  tool: Tool,
  { presetInputs, allowedValues }: ToolOverlayRow['settings'],
): Promise<FieldError[]> {
  const errors = [...namesOf(tool, presetInputs, allowedValues)];
  if (errors.length > 0) return errors;
  const inputs = propertiesOf(tool.input_schema);
  const presets = probe(tool, Object.fromEntries(Object.keys(presetInputs).map((name) => [name, inputs[name]])));
  const lists = Object.keys(allowedValues).map((name) => [name, { type: 'array', items: itemOf(inputs[name]) }]);
  const values = probe(tool, Object.fromEntries(lists));
  return [
    ...(await problemsOf(ownInputs, environmentId, presets, presetInputs, 'preset_inputs')),
    ...(await problemsOf(ownInputs, environmentId, values, allowedValues, 'allowed_values')),
  ];
}

function* namesOf({ input_schema: schema }: Tool, presets: Inputs, allowed: Inputs): Generator<FieldError> {
  const inputs = propertiesOf(schema);
  const text = JSON.stringify(schema);
  const message = `is not an input of the tool (inputs: ${Object.keys(inputs).join(', ') || 'none'})`;
  for (const [field, given] of Object.entries({ preset_inputs: presets, allowed_values: allowed })) {
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(inputs, name)) yield { field: `${field}.${name}`, message };
    }
  }
  for (const [name, value] of Object.entries(presets)) {
    const field = `preset_inputs.${name}`;
    if (isSecretInput(schema, name)) {
      yield { field, message: 'is an input for a secret, which cannot be preset; use the credentials of the account' };
    }
    if (Object.hasOwn(allowed, name)) yield { field, message: 'must not also be in allowed_values' };
    if (text.includes(JSON.stringify(`#/properties/${name}`).slice(1, -1))) {
      yield { field, message: 'cannot be preset: other inputs refer to its schema' };
    }
    // An input that is null counts as omitted if its schema does not allow null, so presetting it has no effect.
    if (value === null && !allowsNull(inputs[name])) yield { field, message: 'must not be null' };
  }
}

function allowsNull(input: unknown): boolean {
  return isRecord(input) && [input['type']].flat().includes('null');
}

/** Returns the schema for the values that `allowed_values` lists for an input. */
function itemOf(input: unknown): unknown {
  return isListInput(input) ? (input['items'] ?? {}) : (input ?? {});
}

/** Returns the tool with only these inputs, all optional, so that values of an overlay can be checked against them. */
function probe(tool: Tool, properties: Inputs): Tool {
  const { $defs, definitions, $schema } = tool.input_schema as Record<string, unknown>;
  const shared = Object.entries({ $defs, definitions, $schema }).filter(([, value]) => value !== undefined);
  const schema: JsonSchema = { ...Object.fromEntries(shared), type: 'object', properties };
  const { pagination: _pagination, ...rest } = tool;
  return { ...rest, input_schema: schema };
}

async function problemsOf(
  ownInputs: OwnInputChecker,
  environmentId: EnvironmentId,
  tool: Tool,
  input: Inputs,
  field: string,
): Promise<FieldError[]> {
  if (Object.keys(input).length === 0) return [];
  try {
    await ownInputs.check(environmentId, tool, input);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'INVALID_TOOL_INPUT') throw error;
    const errors = error.errors ?? [{ field: 'tool_input', message: error.message }];
    return errors.map((each) => ({ ...each, field: each.field.replace(/^tool_input/, field) }));
  }
}
