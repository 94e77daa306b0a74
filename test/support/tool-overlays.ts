import type { TestResponse, TestServer } from './server.ts';

export const OVERLAYS_PATH = '/api/v1/tool_overlays';

/** Sets the overlay of a tool, which must succeed. */
export async function setOverlay(
  server: Pick<TestServer, 'call'>,
  toolName: string,
  body: Record<string, unknown>,
): Promise<TestResponse> {
  const answer = await server.call('PUT', `${OVERLAYS_PATH}/${toolName}`, { body });
  if (answer.status !== 200) throw new Error(`the overlay was not set: ${answer.text}`);
  return answer;
}

export function removeOverlay(server: Pick<TestServer, 'call'>, toolName: string): Promise<TestResponse> {
  return server.call('DELETE', `${OVERLAYS_PATH}/${toolName}`);
}
