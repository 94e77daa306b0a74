import type { ToolOverlayRow } from '../../db/store.ts';
import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';
import { isAmong, limitingInputs, propertiesOf, requiredOf, withoutInputs } from './restrict-schema.ts';

type Overlay = Pick<ToolOverlayRow, 'newName' | 'settings'>;

/**
 * Applies an overlay, with which an environment renames or restricts a tool. The result never accepts an input that the
 * original tool rejects.
 *
 * @param tool the tool as it is defined
 */
export function applyOverlay(tool: Tool, { newName, settings }: Overlay): Tool {
  const { title, addedDescription, presetInputs, allowedValues } = settings;
  const schema = limitingInputs(tool.input_schema, allowedValues, tool.mcp === undefined);
  const shown = withoutInputs(schema, Object.keys(presetInputs));
  return {
    ...tool,
    name: newName ?? tool.name,
    title: title ?? tool.title,
    description: addedDescription === null ? tool.description : `${tool.description} ${addedDescription}`,
    input_schema: shown,
    examples: examplesOf(tool, shown, settings),
    restriction: { toolName: tool.name, presetInputs, schema },
  };
}

/**
 * Returns the examples without the preset inputs. Examples that lack a required input or contain a value that is not
 * allowed are omitted.
 */
function examplesOf(
  { examples }: Tool,
  shown: JsonSchema,
  { presetInputs, allowedValues }: Overlay['settings'],
): Tool['examples'] {
  const required = requiredOf(shown);
  return (examples ?? []).flatMap(({ input, note }) => {
    const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(presetInputs, name)));
    const isComplete = required.every((name) => Object.hasOwn(rest, name));
    const isAllowed = Object.entries(allowedValues).every(
      ([name, values]) => !Object.hasOwn(rest, name) || [rest[name]].flat().every((value) => isAmong(values, value)),
    );
    return isComplete && isAllowed ? [{ input: rest, note }] : [];
  });
}

/** Whether an overlay restricts inputs, so that a change of the tool could make the restriction ineffective. */
export function restrictsInputs({ settings }: Overlay): boolean {
  return Object.keys(settings.presetInputs).length + Object.keys(settings.allowedValues).length > 0;
}

/** Whether an input is for a secret, or contains one. */
export function isSecretInput(schema: JsonSchema, name: string): boolean {
  return hasSecret(propertiesOf(schema)[name]);
}

function hasSecret(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasSecret);
  if (!isRecord(schema)) return false;
  if (schema['writeOnly'] === true || schema['format'] === 'password') return true;
  return Object.values(schema).some(hasSecret);
}
