import type { EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { verifyClientSecret } from '../tokens/client-secret.ts';
import { invalidClient, type TokenError } from '../tokens/token-error.ts';
import type { Digester } from '../vault/digest.ts';
import { findClientAuthentication } from './clients.ts';
import type { PresentedClient } from './token-parameters.ts';

/**
 * Authenticates the client of a token or revocation request. A public client needs no secret: its code is bound to a
 * proof key, and its refresh tokens rotate.
 *
 * A client with a secret can send it in the Authorization header or in the form, whichever `token_endpoint_auth_method`
 * it registered. RFC 6749 §2.3.1 requires the header to be accepted from every client with a secret, and RFC 7591 §2
 * only lets the client state which method it will use. Many clients do not know how the ID and the secret that a user
 * enters were registered, and an `invalid_client` would make them delete what they have stored.
 *
 * @returns the error for an unknown client, a wrong or missing secret, or a secret that a public client sends;
 * otherwise undefined
 */
export async function authenticateClient(
  read: Pick<ReadRepositories, 'oauthClients'>,
  digester: Digester,
  environmentId: EnvironmentRow['id'],
  { clientId, secret, byHeader }: PresentedClient,
): Promise<TokenError | undefined> {
  const client = await findClientAuthentication(read, environmentId, clientId);
  if (!client) return invalidClient(byHeader);
  const { secretDigest } = client;
  if (secretDigest === null || secret === undefined)
    return secretDigest === null && secret === undefined ? undefined : invalidClient(byHeader);
  return verifyClientSecret(secret, [secretDigest], digester) ? undefined : invalidClient(byHeader);
}
