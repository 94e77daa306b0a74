import type { ChildServer } from '../support/child-server.ts';
import type { TestResponse } from '../support/server.ts';

const IMPORTED = 'imported-api';

/** Returns the number of tools in a version. Each version changes every tool and their number. */
export function toolsOfVersion(version: number): number {
  return 3 + (version % 4);
}

export function importVersion(server: Pick<ChildServer, 'call'>, version: number): Promise<TestResponse> {
  const operations = Array.from({ length: toolsOfVersion(version) }, (_, number) => [
    `/things/${number}`,
    {
      get: {
        operationId: `getThing${number}`,
        description: describe(version),
        responses: { 200: { description: 'ok' } },
      },
    },
  ]);
  const document = {
    openapi: '3.0.3',
    info: { title: 'Things', version: String(version) },
    servers: [{ url: 'https://things.crash.example' }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: Object.fromEntries(operations),
  };
  const files = [{ name: 'openapi.json', content: JSON.stringify(document) }];
  return server.call('POST', '/api/v1/tools:import', { body: { connector: IMPORTED, files, apply: true } });
}

/** Returns the version of each stored tool of the document. */
export async function storedVersions(server: Pick<ChildServer, 'call'>): Promise<number[]> {
  const { body } = await server.call('GET', `/api/v1/tools?connector=${IMPORTED}&detail=full`);
  return body.tools.map(({ description }: { description: string }) => Number(/revision (\d+)/.exec(description)?.[1]));
}

function describe(version: number): string {
  return `Reads one thing by its number, as the document describes it in revision ${version}.`;
}
