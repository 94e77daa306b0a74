import { addEnvironment } from '../../core/keys/first-start.ts';
import { Secret } from '../../core/secret.ts';
import { digestClientSecret } from '../../core/tokens/client-secret.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import type { EnvironmentKind, EnvironmentRow } from '../../db/store.ts';
import type { TestRequest, TestResponse, TestServer } from './server.ts';
import { accessToken } from './tokens.ts';

export const OTHER_CLIENT_ID = 'other-client';
export const OTHER_CLIENT_SECRET = 'vks_other-client-secret-0123456789';

/** Another environment of the same deployment, with its own client. */
export interface SecondEnvironment {
  environment: EnvironmentRow;
  host: string;
  /** An access token of its client with all scopes. */
  token: string;
  /** Sends a request to this environment, as its client. */
  call(method: string, path: string, request?: TestRequest): Promise<TestResponse>;
}

export async function addSecondEnvironment(
  server: TestServer,
  { host = 'other.example.test', kind = 'DEVELOPMENT' as EnvironmentKind } = {},
): Promise<SecondEnvironment> {
  const { store, digester, now, newId } = server.parts;
  const environment = await addEnvironment(store, { now, newId }, kind, `https://${host}`);
  const client = { id: OTHER_CLIENT_ID, name: 'Other client', scopes: [...SCOPES], createdAt: now() };
  const digest = digestClientSecret(new Secret(OTHER_CLIENT_SECRET), digester);
  await store.write((tx) =>
    tx.apiClients.insert(environment.id, client, { id: newId('sec'), digest, prefix: 'vks_othe', createdAt: now() }),
  );
  const token = await accessToken(server, {
    issuer: environment.baseUrl,
    audience: environment.baseUrl,
    clientId: OTHER_CLIENT_ID,
    environmentId: environment.id,
  });
  return {
    environment,
    host,
    token,
    call: (method, path, request = {}) =>
      server.call(method, path, { token, ...request, headers: { host, ...request.headers } }),
  };
}
