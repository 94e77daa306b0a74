import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { PlacedCredential, TokenCredential } from '../connectors/credential.ts';
import { boardSigner } from '../oauth1/board-signer.ts';
import { oauth1VariantOf } from '../oauth1/provider.ts';
import { MASK, Secret } from '../secret.ts';
import { OAUTH_TOKEN, STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule, SignerDeps, SigningContext } from './module.ts';
import { placed } from './placing.ts';

/**
 * OAuth 1.0a (RFC 5849), and its variant in which a provider issues tokens without secrets. In the variant, requests
 * contain the application's key and the token, and are not signed.
 */
export const boardOAuth1: AuthorizationModule = {
  connectionType: 'BOARD_OAUTH1',
  forms: [OAUTH_TOKEN, STATIC_AUTH],
  entered: { fields: [], secretNames: () => [], place: () => [] },
  placeToken,
  client: {
    kind: 'registered',
    method: ({ signature_method: signature = 'HMAC-SHA1', signature_placement: placement = 'header' }) =>
      `oauth1 ${signature} ${placement}`,
    isPublic: ({ return_parameter: byFragment, request_token_uri: signed }) =>
      byFragment !== undefined && signed === undefined,
    signsCalls: true,
  },
  signing: { signer },
  consent: {
    protocol: 'oauth1',
    isPossible: (pattern) => oauth1VariantOf(pattern) !== undefined,
  },
};

/**
 * Returns the parts of a request that contain a token without a secret. Such a request is not signed. The pattern says
 * where the token is placed; by default, it follows the client's key in an `Authorization` header with the scheme
 * `OAuth`.
 */
function placeToken(pattern: AuthPattern, { accessToken, consumerKey }: TokenCredential): PlacedCredential {
  const token = accessToken.reveal();
  if (pattern.placement) return placed([{ ...pattern.placement, value: token, masked: MASK }], [token]);
  const quoted = (text: string) => `"${encodeURIComponent(text)}"`;
  const key = consumerKey === undefined ? '' : `oauth_consumer_key=${quoted(consumerKey)}, `;
  const part = {
    in: 'header' as const,
    name: pattern.auth_header_key_override ?? 'Authorization',
    value: `OAuth ${key}oauth_token=${quoted(token)}`,
    masked: `OAuth ${key}oauth_token="${MASK}"`,
  };
  return placed([part], [token]);
}

/**
 * Returns undefined for an account without a token secret. Only the three-step flow of OAuth 1.0a (RFC 5849 §2) issues
 * a secret with the token.
 */
function signer({ pattern, details }: SigningContext, deps: SignerDeps) {
  const { access_token: token, token_secret: secret } = details[OAUTH_TOKEN.name] ?? {};
  if (typeof token !== 'string' || typeof secret !== 'string') return undefined;
  const pair = { accessToken: new Secret(token), tokenSecret: new Secret(secret) };
  return boardSigner(pattern, deps.client(), pair, deps);
}
