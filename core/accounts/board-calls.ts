import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { placeCredential } from '../connectors/placement.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import { type BoardDeps, type BoardToken, boardSigner } from '../oauth1/board-signer.ts';
import type { OutboundRequest } from '../tools/wire.ts';

/**
 * Returns a function that authenticates the requests which read the facts about an account, such as its user at the
 * provider, when the account is connected. If the token has a secret, a request is signed (OAuth 1.0a). Otherwise the
 * token is added to a header or the query, as the pattern says.
 */
export function boardAuthorizer(
  pattern: AuthPattern,
  client: ClientCredentials,
  token: BoardToken,
  deps: BoardDeps,
): (request: OutboundRequest) => OutboundRequest {
  const { accessToken, tokenSecret } = token;
  if (tokenSecret !== null) return boardSigner(pattern, client, { accessToken, tokenSecret }, deps).sign;
  const credential = { kind: 'token', accessToken, consumerKey: client.clientId } as const;
  const { parts } = placeCredential(pattern, credential);
  return (request) => {
    const url = new URL(request.url);
    const headers = { ...request.headers };
    for (const { in: place, name, value } of parts) {
      if (place === 'header') headers[name.toLowerCase()] = value;
      if (place === 'query') url.searchParams.set(name, value);
    }
    return { ...request, url: url.href, headers };
  };
}
