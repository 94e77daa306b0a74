import { clientOf } from '../../connections/client.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import { withoutCredentials } from '../../connectors/oauth-addresses.ts';
import { refreshTokenGrant } from '../../oauth/grants/refresh-token.ts';
import { endpointAt } from '../../oauth/provider.ts';
import { type TokenServer, tokenServerAt } from '../../oauth/server.ts';
import type { TokenSet } from '../../oauth/token-response.ts';
import { Secret } from '../../secret.ts';
import type { Details } from '../authorization-details.ts';
import type { TokenContext, TokenRequest } from './request.ts';

/** Builds the request that uses up the refresh token of an account (RFC 6749 §6). */
export async function refreshRequest(tokenContext: TokenContext): Promise<TokenRequest> {
  const { account, pattern, given, vault } = tokenContext;
  const refreshToken = refreshTokenOf(given) as Secret;
  // Consent stored the origins of discovered endpoints in the account's origins. So the endpoint is checked directly,
  // and not through the origin whose metadata named it (`namingOrigin`).
  const { oauth } = await tokenContext.discoverProvider(accountInputs(pattern, account.apiConfig));
  const server = tokenServerAt(oauth);
  const { origin } = destinationOf(server);
  tokenContext.requireDestination({ origin });
  const client = clientOf(vault, { ...tokenContext, connection: await tokenContext.secured(oauth) });
  const scopes = scopesOf(given);
  return {
    origin,
    async send(fetch, now) {
      const outcome = await refreshTokenGrant({ server, client, refreshToken, scopes, fetch, now });
      if (!outcome.ok) return outcome;
      const { tokens } = outcome;
      const store = (details: Details) => ({ given: renewed(details, tokens), temporary: {} });
      return { ok: true, obtained: { expiresAt: tokens.expiresAt, store, tokens } };
    },
  };
}

/** Returns the refresh token from the credentials of an account; null if there is none. */
export function refreshTokenOf(details: Details): Secret | null {
  const token = details.oauth_token?.['refresh_token'];
  return typeof token === 'string' && token !== '' ? new Secret(token) : null;
}

/** Returns the scopes that the account was granted, as far as they are known. */
function scopesOf(details: Details): string[] {
  const scopes = details.oauth_token?.['scopes'];
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [];
}

/** Returns the refresh endpoint, which for some providers differs from the token endpoint. */
function destinationOf({ refresh: { endpoint, call } }: TokenServer): URL {
  return call ? endpointAt(call.provider, withoutCredentials(call.recipe.uri), call.recipe.origin_from) : endpoint;
}

function renewed(details: Details, { accessToken, refreshToken, scopes }: TokenSet): Details {
  return {
    oauth_token: {
      ...details.oauth_token,
      access_token: accessToken.reveal(),
      ...(refreshToken && { refresh_token: refreshToken.reveal() }),
      ...(scopes && { scopes }),
    },
  };
}
