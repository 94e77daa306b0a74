import { type BenchRequest, type McpSubject, mcpMessage } from './calls.ts';

const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Acme', version: '1' },
  servers: [{ url: 'https://api.acme.example' }],
  paths: { '/things': { get: { operationId: 'listThings', responses: { 200: { description: 'Things.' } } } } },
};

/**
 * Uses the parts of the server that the measured operations do not use, so that its memory is then that of a server in
 * production.
 *
 * @param isOlder whether the server is of an older version, which may not have all of them
 */
export async function useEverything(port: number, token: string, subject: McpSubject, isOlder = false): Promise<void> {
  const files = [{ name: 'openapi.json', content: JSON.stringify(DOCUMENT) }];
  const json = 'application/json';
  const requests: BenchRequest[] = [
    ...['/docs', '/openapi.json', '/llms.txt'].map(page),
    ...['tools?connector=github&detail=full', 'tools:search?query=create%20an%20issue', 'providers', 'executions'].map(
      read,
    ),
    ...['audit_events', 'connections', 'environment'].map(read),
    { method: 'POST', path: '/api/v1/tools:import', type: json, body: JSON.stringify({ connector: 'acme', files }) },
    mcpMessage(subject, 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }),
  ];
  for (const { method, path, type, body, headers, anonymous } of requests) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(anonymous ? {} : { authorization: `Bearer ${token}` }),
        ...(type && { 'content-type': type }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (!response.ok && !isOlder)
      throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 300)}`);
  }
}

function page(path: string): BenchRequest {
  return { method: 'GET', path, anonymous: true };
}

function read(path: string): BenchRequest {
  return { method: 'GET', path: `/api/v1/${path}` };
}
