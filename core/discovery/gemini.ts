import { publicInputSchema } from '../tools/input.ts';
import type { Tool } from '../tools/tool.ts';
import { readShape, type Shape } from './model-shape.ts';

/** The `Schema` of the Gemini API, limited to the members that every version accepts. */
export interface GeminiSchema {
  type?: string;
  description?: string;
  nullable?: true;
  enum?: string[];
  properties?: Record<string, GeminiSchema>;
  required?: string[];
  items?: GeminiSchema;
  anyOf?: GeminiSchema[];
}

/** An element of `functionDeclarations` in a `Tool` of the Gemini API. */
export interface GeminiTool {
  name: string;
  description: string;
  /** Omitted for a tool without inputs, because the API rejects an object without properties here. */
  parameters?: GeminiSchema;
}

const SCALARS = ['string', 'number', 'boolean'];

export function geminiTool(tool: Tool): GeminiTool {
  const { name, description } = tool;
  const shape = readShape(publicInputSchema(tool));
  return { name, description, ...(shape.members.size > 0 && { parameters: schemaOf(shape) }) };
}

function schemaOf(shape: Shape): GeminiSchema {
  const parts = shape.branches?.map(schemaOf) ?? typesOf(shape).map((type) => typed(type, shape));
  // The API accepts no other member next to `anyOf`, so what applies to all alternatives is added to each.
  const all = parts.flatMap((part) => part.anyOf ?? [part]).map((part) => described(part, shape));
  return all.length === 1 ? (all[0] as GeminiSchema) : { anyOf: all };
}

function typesOf({ types }: Shape): string[] {
  return types.length > 0 ? types : [...SCALARS, 'array', 'object'];
}

function described(schema: GeminiSchema, { description, nullable }: Shape): GeminiSchema {
  const words = [description, schema.description].filter(Boolean).join(' ');
  return { ...schema, ...(words !== '' && { description: words }), ...(nullable && { nullable }) };
}

function typed(type: string, { values, members, items, required }: Shape): GeminiSchema {
  const name = { type: type.toUpperCase() };
  // The API has no type that only allows null.
  if (type === 'null') return { type: 'STRING', nullable: true, description: 'Always null.' };
  if (values) return { ...name, ...choiceOf(type, values), ...(type === 'array' && { items: anyItem() }) };
  if (type === 'array') return { ...name, items: items ? schemaOf(items) : anyItem() };
  if (type !== 'object' || members.size === 0) return name;
  return {
    ...name,
    properties: Object.fromEntries([...members].map(([key, member]) => [key, schemaOf(member)])),
    ...(required.size > 0 && { required: [...required].filter((key) => members.has(key)) }),
  };
}

/**
 * Returns the allowed values: as an enum if all are non-empty strings, because the API accepts no others; otherwise in
 * words.
 */
function choiceOf(type: string, values: readonly unknown[]): GeminiSchema {
  const texts = values.filter((value) => typeof value === 'string' && value !== '');
  if (type === 'string' && texts.length === values.length) return { enum: texts as string[] };
  return { description: `One of ${values.map((value) => JSON.stringify(value)).join(', ')}.` };
}

function anyItem(): GeminiSchema {
  return { anyOf: [...SCALARS, 'object'].map((type) => ({ type: type.toUpperCase() })) };
}
