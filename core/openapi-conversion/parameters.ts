import { isRecord } from '../tools/pointer.ts';
import type { Operation } from './operations.ts';
import type { Resolver } from './resolve.ts';

type Data = Record<string, unknown>;

export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie';

/** A parameter of an operation, with its references resolved. */
export interface Parameter {
  in: ParameterPlace;
  name: string;
  required: boolean;
  schema: unknown;
  description: unknown;
  style: string | undefined;
  explode: boolean | undefined;
  allowReserved: boolean;
  /** The media type, if a media type instead of a style describes the parameter. */
  contentType: string | undefined;
  /** Whether a vendor extension says that a path parameter can contain several segments. */
  multiSegment: boolean;
  deprecated: boolean;
}

const PLACES = ['path', 'query', 'header', 'cookie'];

/**
 * Returns the parameters of an operation. They include each parameter of its path item, unless the operation has a
 * parameter with the same name and place (OpenAPI 3.1 §4.8.10). Invalid entries and references without a target are
 * skipped.
 */
export function readParameters({ data, item }: Operation, resolve: Resolver): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const node of [item['parameters'], data['parameters']].flatMap((list) => (Array.isArray(list) ? list : []))) {
    const parameter = readParameter(resolve(node), resolve);
    if (parameter) found.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return [...found.values()];
}

function readParameter(data: Data | undefined, resolve: Resolver): Parameter | undefined {
  const { in: place, name } = data ?? {};
  if (!data || typeof name !== 'string' || name === '' || !PLACES.includes(String(place))) return undefined;
  const [contentType, media] = isRecord(data['content']) ? (Object.entries(data['content'])[0] ?? []) : [];
  return {
    in: place as ParameterPlace,
    name,
    required: data['required'] === true || place === 'path',
    // A parameter without a schema allows any value. It is treated as text, because a URL can contain any value only
    // as text.
    schema: (contentType === undefined ? data['schema'] : resolve(media)?.['schema']) ?? { type: 'string' },
    description: data['description'],
    style: typeof data['style'] === 'string' ? data['style'] : undefined,
    explode: typeof data['explode'] === 'boolean' ? data['explode'] : undefined,
    allowReserved: data['allowReserved'] === true,
    contentType,
    multiSegment: data['x-multi-segment'] === true,
    deprecated: data['deprecated'] === true,
  };
}
