import { isRecord } from '../../../tools/pointer.ts';

type Data = Record<string, unknown>;

/**
 * Converts one node of a schema in an older dialect (draft 4 to 2019-09, and OpenAPI 3.0) to 2020-12. Its subschemas
 * are not converted. The dialect is recognized by the form of the keywords, because few schemas name their dialect.
 */
export function upgradeNode(node: Readonly<Data>): Data {
  const upgraded: Data = { ...node };
  const move = (from: string, to: string) => {
    if (Object.hasOwn(upgraded, from) && !Object.hasOwn(upgraded, to)) upgraded[to] = upgraded[from];
    delete upgraded[from];
  };
  if (Array.isArray(node['items'])) {
    move('items', 'prefixItems');
    move('additionalItems', 'items');
    if (node['items'].length === 0) delete upgraded['prefixItems'];
  }
  if (isRecord(node['dependencies'])) Object.assign(upgraded, dependencies(node['dependencies']));
  delete upgraded['dependencies'];
  if (typeof node['$recursiveRef'] === 'string') move('$recursiveRef', '$ref');
  if (typeof node['$dynamicRef'] === 'string') move('$dynamicRef', '$ref');
  if (typeof node['$dynamicAnchor'] === 'string') move('$dynamicAnchor', '$anchor');
  for (const [exclusive, plain] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof node[exclusive] !== 'boolean') continue;
    if (node[exclusive]) move(plain, exclusive);
    else delete upgraded[exclusive];
    if (node[exclusive] && typeof node[plain] === 'number') upgraded[exclusive] = node[plain];
  }
  if (node['nullable'] === true) Object.assign(upgraded, nullable(node));
  for (const word of SILENT) delete upgraded[word];
  return upgraded;
}

/** Keywords that name the schema or its dialect, and those that were converted above: removing them loses nothing. */
const SILENT = ['$schema', '$id', 'id', '$vocabulary', '$recursiveAnchor', 'nullable', 'additionalItems'];

function dependencies(given: Data): Data {
  const names = Object.entries(given).filter(([, value]) => Array.isArray(value));
  const schemas = Object.entries(given).filter(([, value]) => !Array.isArray(value));
  return {
    ...(names.length > 0 && { dependentRequired: Object.fromEntries(names) }),
    ...(schemas.length > 0 && { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

function nullable({ type, enum: values }: Readonly<Data>): Data {
  return {
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  };
}
