import type { TestServer } from './server.ts';

/** An API key in the header X-Api-Key. */
export const API_KEY_PATTERN = {
  type: 'API_KEY',
  fields: [{ field_name: 'api_key', label: 'API key', input_type: 'password', required: true }],
  auth_header_key_override: 'X-Api-Key',
};

let made = 0;

/** Creates a custom provider over the API, by default with an API key. */
export async function createProvider(server: Pick<TestServer, 'call'>, fields: Record<string, unknown> = {}) {
  made += 1;
  const body = { display_name: `Provider ${made}`, auth_patterns: [API_KEY_PATTERN], ...fields };
  const answer = await server.call('POST', '/api/v1/custom-providers', { body });
  if (answer.status !== 201) throw new Error(`provider was not created: ${answer.text}`);
  return answer.body.provider as { id: string; identifier: string; proxy_url: string };
}

/** Creates a connection over the API. */
export async function createConnection(server: Pick<TestServer, 'call'>, fields: Record<string, unknown> = {}) {
  made += 1;
  const body = { connector: 'github', key_id: `connection-${made}`, ...fields };
  const answer = await server.call('POST', '/api/v1/connections', { body });
  if (answer.status !== 201) throw new Error(`connection was not created: ${answer.text}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
  return answer.body.connection as any;
}
