import { type ClientAuth, ClientSecretPost, modifyAssertion, None, PrivateKeyJwt } from 'oauth4webapi';
import type { BasicStyle } from '../connectors/oauth-deviations.ts';
import type { Secret } from '../secret.ts';
import { basicValue } from './basic.ts';
import { type Culprit, OAuthConfigError } from './config-error.ts';
import { readPrivateKey } from './private-key.ts';

export type ClientAuthMethod = 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';

/** A client as it is registered with a provider. */
export interface ClientCredentials {
  clientId: string;
  method: ClientAuthMethod;
  /** The client secret; with `private_key_jwt` the private key, in PEM or as a JWK. */
  secret: Secret | null;
  /** Whose client it is: the connection's unless it was typed for an account alone. */
  owner?: Culprit;
}

export function noSecret(owner: Culprit = 'connection'): OAuthConfigError {
  return new OAuthConfigError(`The ${owner} has no client secret.`, { culprit: owner });
}

/** An assertion is used immediately; the minute allows for clock differences. */
const ASSERTION_LIFE_S = 60;

/**
 * How a client proves itself at the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2).
 *
 * @param now milliseconds UTC
 * @param basic how `client_secret_basic` is written, where not as the standard says
 * @throws OAuthConfigError when the client has no secret, or no usable key
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
          // What other tokens of the same key could not be taken for (SMART App Launch 2.2 demands it).
          header['typ'] = 'JWT';
          const at = Math.floor(now() / 1000);
          Object.assign(payload, { iat: at, nbf: at, exp: at + ASSERTION_LIFE_S });
        },
      });
  }
}
