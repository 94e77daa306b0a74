/** The notation of an overlay's values in the form: most texts without quotes, all other values as JSON. */

export type InputSchema = Record<string, unknown>;

export type Restriction = { kind: 'free' } | { kind: 'preset'; text: string } | { kind: 'allowed'; text: string };

const isText = (schema: InputSchema) => schema['type'] === 'string';

/** Returns the schema of one allowed value: for an input that is a list, the schema of its items. */
function itemOf(schema: InputSchema): InputSchema {
  const { items } = schema;
  return schema['type'] === 'array' && typeof items === 'object' && items !== null ? (items as InputSchema) : schema;
}

/**
 * Writes a value for the form. A text that `read` would change is also written as JSON: an empty text, one with several
 * lines or outer white space, and one that begins with a quote.
 */
function write(value: unknown, schema: InputSchema): string {
  const isPlain = typeof value === 'string' && isText(schema) && value !== '' && !/^["\s]|\s$|\n/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

function read(text: string, schema: InputSchema): unknown {
  const trimmed = text.trim();
  return isText(schema) && !trimmed.startsWith('"') ? trimmed : JSON.parse(trimmed);
}

/** Returns the restriction that an overlay sets for an input, for editing. */
export function restrictionOf(
  { preset_inputs: presets, allowed_values: allowed }: { preset_inputs: object; allowed_values: object },
  name: string,
  schema: InputSchema,
): Restriction {
  if (Object.hasOwn(presets, name))
    return { kind: 'preset', text: write((presets as Record<string, unknown>)[name], schema) };
  if (!Object.hasOwn(allowed, name)) return { kind: 'free' };
  const values = (allowed as Record<string, unknown[]>)[name] ?? [];
  return { kind: 'allowed', text: values.map((value) => write(value, itemOf(schema))).join('\n') };
}

/**
 * Returns the value, or the list of values, that was typed.
 *
 * @throws Error with a sentence for display
 */
export function typedValue(restriction: Exclude<Restriction, { kind: 'free' }>, schema: InputSchema): unknown {
  const { kind, text } = restriction;
  if (text.trim() === '') throw new Error('A value is required.');
  try {
    if (kind === 'preset') return read(text, schema);
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => read(line, itemOf(schema)));
  } catch {
    throw new Error(
      `Not JSON yet. Write texts in double quotes${kind === 'allowed' ? ', one value in each line' : ''}.`,
    );
  }
}
