import { randomBytes } from 'node:crypto';
import type { AuthPattern, OAuthConfig } from '../../core/connectors/auth-pattern.ts';
import { type AccountFacts, readAccountFacts } from '../../core/oauth/account-facts.ts';
import type { KeptAuthorization } from '../../core/oauth/authorization-request.ts';
import { beginAuthorization, type StartedAuthorization } from '../../core/oauth/begin-authorization.ts';
import type { ClientCredentials } from '../../core/oauth/client-auth.ts';
import { type Finished, finishAuthorization, type Granted } from '../../core/oauth/grants/authorization-code.ts';
import { refreshTokenGrant } from '../../core/oauth/grants/refresh-token.ts';
import { type OAuthProvider, oauthProviderOf } from '../../core/oauth/provider.ts';
import type { RefreshOutcome } from '../../core/oauth/refresh-outcome.ts';
import { type RevocationOutcome, revokeTokens } from '../../core/oauth/revocation.ts';
import { tokenServerAt } from '../../core/oauth/server.ts';
import { Secret } from '../../core/secret.ts';
import { AS, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, type ScriptableAs } from './scriptable-as.ts';

const ADDRESSES: OAuthConfig = { authorize_uri: `${AS}/authorize`, token_uri: `${AS}/token` };

/** Runs a connector's flow with a scriptable authorization server, step by step. */
export interface Flow {
  provider: OAuthProvider;
  begin(scopes?: string[]): Promise<StartedAuthorization>;
  finish(callback: URLSearchParams, kept: KeptAuthorization): Promise<Finished>;
  /** Runs both steps, with a user who consents to everything. */
  run(scopes?: string[]): Promise<Finished>;
  facts(granted: Granted): Promise<AccountFacts>;
  refresh(token: Secret | null, scopes?: string[]): Promise<RefreshOutcome>;
  revoke(tokens: { accessToken: Secret | null; refreshToken: Secret | null }): Promise<RevocationOutcome>;
}

export interface FlowOptions {
  pattern?: Partial<AuthPattern>;
  inputs?: Record<string, string>;
  client?: Partial<ClientCredentials>;
  now?: () => number;
}

export function flowOf(server: ScriptableAs, config: OAuthConfig = {}, options: FlowOptions = {}): Flow {
  const { now = Date.now, inputs = {} } = options;
  const oauth_config = { ...ADDRESSES, ...config };
  const provider = oauthProviderOf({ type: 'OAUTH', ...options.pattern, oauth_config }, inputs);
  const method = config.client_auth_method ?? 'client_secret_basic';
  const client: ClientCredentials = {
    clientId: CLIENT_ID,
    method,
    secret: new Secret(CLIENT_SECRET),
    ...options.client,
  };
  const { fetchFor } = server;
  const flow: Flow = {
    provider,
    begin: (scopes = ['read']) =>
      beginAuthorization({ provider, client, redirectUri: REDIRECT_URI, scopes, fetchFor, now, random: randomBytes }),
    finish: (parameters, kept) => finishAuthorization({ provider, client, parameters, kept, fetchFor, now }),
    async run(scopes) {
      const begun = await flow.begin(scopes);
      if (!begun.ok) throw new Error(begun.message);
      const consent = server.consent(begun.url);
      if ('refused' in consent) throw new Error(`refused at the consent page: ${consent.refused}`);
      return flow.finish(consent.callback, begun.kept);
    },
    facts({ tokens, answer, values }) {
      const known = oauthProviderOf({ type: 'OAUTH', ...options.pattern, oauth_config }, { ...inputs, ...values });
      const { accessToken } = tokens;
      return readAccountFacts({ provider: known, client, accessToken, answer, nonce: null, fetchFor, now });
    },
    async refresh(token, scopes) {
      const refreshToken = token ?? new Secret('none');
      const tokenServer = tokenServerAt(provider);
      const fetch = await fetchFor([tokenServer.refresh.endpoint.origin]);
      return refreshTokenGrant({ server: tokenServer, client, refreshToken, scopes, fetch, now });
    },
    async revoke(tokens) {
      const fetch = await fetchFor([AS, 'https://api.example']);
      return revokeTokens({ provider, client, ...tokens, fetch, now });
    },
  };
  return flow;
}

/** Returns the tokens in plain text; fails if the flow failed. */
export function grantedBy(outcome: Finished | RefreshOutcome) {
  if (!outcome.ok) throw new Error(`${outcome.kind}: ${outcome.message}`);
  const { accessToken, refreshToken, ...rest } = outcome.tokens;
  return { access: accessToken.reveal(), refresh: refreshToken?.reveal() ?? null, ...rest };
}
