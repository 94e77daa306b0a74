import { type ClientAuth, ClientSecretPost, modifyAssertion, None, PrivateKeyJwt } from 'oauth4webapi';
import type { BasicStyle } from '../connectors/oauth-deviations.ts';
import type { Secret } from '../secret.ts';
import { basicValue } from './basic.ts';
import { type FaultyPart, OAuthConfigError } from './config-error.ts';
import { readPrivateKey } from './private-key.ts';

export type ClientAuthMethod = 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';

/** An OAuth client as registered with a provider. */
export interface ClientCredentials {
  clientId: string;
  method: ClientAuthMethod;
  /** The client secret, or for `private_key_jwt` the private key in PEM or as a JWK. */
  secret: Secret | null;
  /** Where the client is configured: in the connection, or by a user for one account. The default is `connection`. */
  owner?: FaultyPart;
}

export function noSecret(owner: FaultyPart = 'connection'): OAuthConfigError {
  return new OAuthConfigError(`The ${owner} has no client secret.`, { faultyPart: owner });
}

/** The lifetime of an assertion. It is used immediately; the minute allows for clock differences. */
const ASSERTION_LIFE_S = 60;

/**
 * Returns how a client authenticates at the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2).
 *
 * @param now milliseconds UTC
 * @param basic the variant of `client_secret_basic`, if the provider deviates from the standard
 * @throws OAuthConfigError if the client has no secret or no usable key
 */
export function clientAuthOf(
  { clientId, method, secret, owner }: ClientCredentials,
  now: () => number,
  basic?: BasicStyle,
): ClientAuth {
  if (method === 'none') return None();
  const text = secret?.reveal() ?? '';
  if (secret === null || text === '') throw noSecret(owner);
  switch (method) {
    case 'client_secret_basic':
      return (_server, _client, _body, headers) => headers.set('authorization', basicValue(clientId, secret, basic));
    case 'client_secret_post':
      return ClientSecretPost(text);
    case 'private_key_jwt':
      return PrivateKeyJwt(readPrivateKey(secret), {
        [modifyAssertion]: (header, payload) => {
          // SMART App Launch 2.2 requires this type.
          header['typ'] = 'JWT';
          const at = Math.floor(now() / 1000);
          Object.assign(payload, { iat: at, nbf: at, exp: at + ASSERTION_LIFE_S });
        },
      });
  }
}
