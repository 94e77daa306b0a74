import type { Scope } from '../../core/tokens/scopes.ts';
import type { TestServer } from './server.ts';
import { requestToken } from './token-request.ts';

/** An API client that was created over the API. */
export interface MadeClient {
  id: string;
  secret: string;
  /** Requests an access token with the given secret, or else with the first one. */
  requestToken(secret?: string): ReturnType<typeof requestToken>;
}

export async function createApiClient(server: TestServer, scopes: Scope[] = ['tools:read']): Promise<MadeClient> {
  const answer = await server.call('POST', '/api/v1/api_clients', { body: { name: 'Client', scopes } });
  if (answer.status !== 201) throw new Error(`client was not created: ${answer.text}`);
  const { api_client: client, client_secret: first } = answer.body;
  return {
    id: client.id,
    secret: first,
    requestToken: (secret = first) => requestToken(server, { client_id: client.id, client_secret: secret }),
  };
}
