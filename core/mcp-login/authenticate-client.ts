import type { EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { verifyClientSecret } from '../tokens/client-secret.ts';
import { invalidClient, type TokenError } from '../tokens/token-error.ts';
import type { Digester } from '../vault/digest.ts';
import { type ClientAuthentication, findClientAuthentication } from './clients.ts';
import type { PresentedClient } from './token-parameters.ts';

/**
 * Authenticates the client of a token or revocation request. A public client needs no secret: its code is bound to a
 * proof key, and its refresh tokens rotate.
 *
 * @returns the client, or the error for an unknown client, a wrong or missing secret, or a secret of a public client
 */
export async function authenticateClient(
  read: Pick<ReadRepositories, 'oauthClients'>,
  digester: Digester,
  environmentId: EnvironmentRow['id'],
  { clientId, secret, byHeader }: PresentedClient,
): Promise<{ ok: true; client: ClientAuthentication } | { ok: false; error: TokenError }> {
  const client = await findClientAuthentication(read, environmentId, clientId);
  const refused = { ok: false as const, error: invalidClient(byHeader) };
  if (!client) return refused;
  if (client.secretDigest === null) return secret === undefined ? { ok: true, client } : refused;
  if (secret === undefined) return refused;
  return verifyClientSecret(secret, [client.secretDigest], digester) ? { ok: true, client } : refused;
}
