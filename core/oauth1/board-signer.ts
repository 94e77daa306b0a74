import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import type { Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import { signingRulesOf } from './provider.ts';
import { previewSignedRequest, type Signing, signRequest } from './sign-request.ts';

export interface BoardDeps {
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/**
 * The stored token of an account. Only a token from the three steps of OAuth 1.0a has a secret; a token from the flow
 * that returns it in a URL fragment (`FragmentFlow`) has none.
 */
export interface BoardToken {
  accessToken: Secret;
  tokenSecret: Secret | null;
}

/**
 * Creates the signer for the tool calls of an account with an OAuth 1.0a token.
 *
 * @throws OAuthConfigError if the connection has no secret to sign with
 */
export function boardSigner(
  { oauth_config: config = {} }: AuthPattern,
  client: ClientCredentials,
  { accessToken: token, tokenSecret: secret }: BoardToken & { tokenSecret: Secret },
  { now, random }: BoardDeps,
): RequestSigner {
  if (client.secret === null) throw new OAuthConfigError('The connection has no client secret.');
  const rules = signingRulesOf(config);
  const signing: Signing = {
    client: { key: client.clientId, secret: client.secret },
    token: { token, secret },
    rules,
    now,
    random,
  };
  return {
    sign: (request) => signRequest(request, signing),
    preview: (request) => previewSignedRequest(request, signing.client, rules),
    secrets: [token.reveal(), secret.reveal(), client.secret.reveal()].filter((text) => text !== ''),
  };
}
