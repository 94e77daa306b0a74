import { isRecord } from '../../core/tools/pointer.ts';

type Data = Record<string, unknown>;

/** Whether a description is a JSON Hyper-Schema: resources with links, each of which is a call. */
export function isHyperSchema(document: Data): boolean {
  return isRecord(document['definitions']) && document['openapi'] === undefined && document['swagger'] === undefined;
}

/** Returns a JSON Hyper-Schema as an OpenAPI document with the same calls, so that it can be compared like OpenAPI. */
export function fromHyperSchema(document: Data): Data {
  const definitions = document['definitions'] as Record<string, Data>;
  const paths: Record<string, Record<string, Data>> = {};
  for (const [resource, { links }] of Object.entries(definitions)) {
    for (const link of Array.isArray(links) ? (links as Data[]) : []) {
      const path = String(link['href']).replace(/\{\(([^)]*)\)\}/g, (_all, name: string) => `{${nameOf(name)}}`);
      const method = String(link['method']).toLowerCase();
      const item = paths[path] ?? {};
      paths[path] = item;
      item[method] = operation(link, { $ref: `#/definitions/${resource}` }, item[method]);
    }
  }
  return { openapi: '3.0.3', info: { title: '', version: '' }, definitions, paths };
}

/** @param same an earlier call with the same method and path, which takes another body */
function operation(link: Data, resource: Data, same: Data | undefined): Data {
  const body = link['schema'];
  const isQuery = String(link['method']).toUpperCase() === 'GET';
  const bodies = [
    ...((same?.['x-bodies'] as unknown[] | undefined) ?? []),
    ...(isRecord(body) && !isQuery ? [body] : []),
  ];
  const schema = bodies.length > 1 ? { anyOf: bodies } : bodies[0];
  return {
    'x-bodies': bodies,
    ...(schema !== undefined && { requestBody: { content: { 'application/json': { schema } } } }),
    responses: {
      200: { description: '', content: { 'application/json': { schema: link['targetSchema'] ?? resource } } },
    },
  };
}

/** Returns a name for a parameter that is written as the address of its schema. */
function nameOf(address: string): string {
  return decodeURIComponent(address)
    .replace(/^#\/definitions\//, '')
    .replaceAll('/', '.');
}
