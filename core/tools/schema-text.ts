import type { JsonSchema } from './tool.ts';

/** A schema as it is passed to threads, which cache the parsed schema by its key. */
export interface SchemaText {
  /** Unique in this process. */
  key: string;
  json: string;
}

const texts = new WeakMap<JsonSchema, SchemaText>();
let made = 0;

/**
 * Returns the text of a schema, which is created once per object. Copying a text to a thread takes a hundredth of the
 * time of copying objects.
 */
export function schemaText(schema: JsonSchema): SchemaText {
  const known = texts.get(schema);
  if (known) return known;
  const text = { key: String(++made), json: JSON.stringify(schema) };
  texts.set(schema, text);
  return text;
}
