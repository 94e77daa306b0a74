import type { TokenFacts } from '../../core/tokens/access-token.ts';
import { issueAccessToken } from '../../core/tokens/access-token.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import type { EnvironmentRow } from '../../db/store.ts';
import type { TestServer } from './server.ts';
import { CLIENT_ID } from './server.ts';

/** Returns a token that the server has signed, by default of its test client with all scopes. */
export async function accessToken(server: TestServer, facts: Partial<TokenFacts> = {}): Promise<string> {
  const environment = await firstEnvironment(server);
  const usual = {
    issuer: environment.baseUrl,
    audience: environment.baseUrl,
    clientId: CLIENT_ID,
    environmentId: environment.id,
    generation: 1,
    scopes: SCOPES,
  };
  const { signingKeys, now, random } = server.parts;
  return issueAccessToken(signingKeys.current, { ...usual, ...facts }, now(), random);
}

/** Returns the environment that a test server creates at its start. */
export async function firstEnvironment(server: TestServer): Promise<EnvironmentRow> {
  const [environment] = await server.parts.store.read.environments.list();
  if (!environment) throw new Error('the server has no environment');
  return environment;
}
