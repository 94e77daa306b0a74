import { clientOf } from '../../connections/client.ts';
import { secureEndpoints } from '../../connections/client-endpoints.ts';
import { requestedScopes } from '../../connections/scopes.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import { oauthAddresses } from '../../connectors/oauth-addresses.ts';
import { type AccountFacts, readAccountFacts } from '../../oauth/account-facts.ts';
import type { ClientCredentials } from '../../oauth/client-auth.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import { oauthProviderOf } from '../../oauth/provider.ts';
import type { FetchFor } from '../../oauth/transport.ts';
import { restrictedToTarget } from '../../oauth/transport.ts';
import {
  type Authorization,
  authorizationUrl,
  requestTemporaryCredentials,
  requestTokenCredentials,
} from '../../oauth1/authorization.ts';
import { readCallback } from '../../oauth1/callback.ts';
import { fragmentAuthorizationUrl, readPostedToken } from '../../oauth1/fragment-flow.ts';
import { fragmentFlowOf, oauth1ProviderOf, oauth1VariantOf } from '../../oauth1/provider.ts';
import type { OAuth1Token } from '../../oauth1/sign-request.ts';
import { fetchAs } from '../../oauth1/signed-fetch.ts';
import { Secret } from '../../secret.ts';
import { boardAuthorizer } from '../board-calls.ts';
import type { AuthorizationClient, AuthorizationPlan, Finished, Grant } from './authorization-client.ts';
import type { OAuthClientDeps } from './oauth-client.ts';
import { settingErrorsAsOutcome } from './setting-errors.ts';
import { mintToken } from './tokens.ts';

/** The data that is stored until the browser returns. */
type Kept = { state: string; temporary: { token: string; secret: string } | null };

export type OAuth1ClientTools = Omit<OAuthClientDeps, 'discovery'>;

/** The three steps of OAuth 1.0a (RFC 5849 §2), and the variant that returns a token in a fragment. */
export function createOAuth1Client(tools: OAuth1ClientTools): AuthorizationClient {
  return {
    returnsByFragment: (pattern) => oauth1VariantOf(pattern) === 'fragment',

    readState(_pattern, answer) {
      const [state, ...others] = answer.getAll('state');
      return others.length === 0 ? state : undefined;
    },

    begin: (plan) =>
      settingErrorsAsOutcome(async () => {
        const state = mintToken(tools.random);
        const { pattern, connection } = plan;
        const inputs = accountInputs(pattern, plan.apiConfig);
        const scopes = requestedScopes(connection, pattern);
        const client = await clientAt(tools, plan);
        if (oauth1VariantOf(pattern) === 'fragment') {
          const flow = fragmentFlowOf(pattern, inputs, scopes);
          const url = fragmentAuthorizationUrl(flow, client.clientId, new URL(plan.redirectUri), state);
          return { ok: true, url: url.href, state, kept: { state, temporary: null } satisfies Kept };
        }
        const flow = flowOf(tools, plan, client);
        // The protocol has no state parameter, so the callback address contains the state.
        const callback = new URL(plan.redirectUri);
        callback.searchParams.set('state', state);
        const outcome = await requestTemporaryCredentials(flow, callback);
        if (!outcome.ok) return { ok: false, message: outcome.message };
        const { token, secret } = outcome.temporary;
        const kept: Kept = { state, temporary: { token: token.reveal(), secret: secret.reveal() } };
        return { ok: true, url: authorizationUrl(flow.provider, outcome.temporary).href, state, kept };
      }),

    finish: (plan, kept, answer) =>
      settingErrorsAsOutcome(() => {
        const { state, temporary } = kept as Kept;
        if (temporary === null) return finishFragment(tools, plan, state, answer);
        const { token, secret } = temporary;
        return finishSigned(tools, plan, { token: new Secret(token), secret: new Secret(secret) }, answer);
      }),
  };
}

async function finishSigned(
  tools: OAuth1ClientTools,
  plan: AuthorizationPlan,
  temporary: OAuth1Token,
  answer: URLSearchParams,
): Promise<Finished> {
  const callback = readCallback(answer, temporary);
  if (!callback.ok) return notGranted(callback.kind);
  const client = await clientAt(tools, plan);
  const outcome = await requestTokenCredentials(flowOf(tools, plan, client), temporary, callback.verifier);
  if (!outcome.ok) return { ok: false, kind: 'failed', message: outcome.message };
  const { token, others, expiresAt } = outcome;
  const facts = await factsOf(tools, plan, client, token.token, token.secret, others);
  const grant = grantOf(plan, facts, {
    access_token: token.token.reveal(),
    token_secret: token.secret.reveal(),
  });
  if (!facts.ok) {
    const fields = { connection_id: plan.connection.id, reason: facts.message };
    tools.log.warn(fields, 'an account was connected without its user at the provider, who could not be identified');
  }
  return { ok: true, grant: { ...grant, tokenExpiresAt: expiresAt } };
}

/**
 * Any page could have posted the token, so it is used only if the provider accepts it together with the key of the
 * connection.
 */
async function finishFragment(
  tools: OAuth1ClientTools,
  plan: AuthorizationPlan,
  state: string,
  answer: URLSearchParams,
): Promise<Finished> {
  const posted = readPostedToken(
    { token: answer.get('token'), error: answer.get('error'), state: answer.get('state') },
    state,
  );
  if (!posted.ok) return notGranted(posted.kind);
  const client = await clientAt(tools, plan);
  const facts = await factsOf(tools, plan, client, posted.token, null, {});
  const grant = grantOf(plan, facts, { access_token: posted.token.reveal() });
  return facts.ok ? { ok: true, grant } : { ok: false, kind: 'failed', message: facts.message };
}

function notGranted(kind: 'refused' | 'mismatch' | 'malformed'): Finished {
  if (kind === 'refused') return { ok: false, kind, message: 'The user or the provider denied access.' };
  const message =
    kind === 'mismatch'
      ? "The provider's response does not belong to this request. Start again."
      : "The provider's authorization response cannot be parsed. Start again.";
  return { ok: false, kind: 'failed', message };
}

async function clientAt({ store, vault, now }: OAuth1ClientTools, plan: AuthorizationPlan): Promise<ClientCredentials> {
  const oauth = oauthProviderOf(plan.pattern, accountInputs(plan.pattern, plan.apiConfig));
  return clientOf(vault, { ...plan, connection: await secureEndpoints(store, vault, { ...plan, oauth }, now()) });
}

function flowOf(tools: OAuth1ClientTools, plan: AuthorizationPlan, client: ClientCredentials): Authorization {
  const { pattern, connection } = plan;
  if (client.secret === null) throw new OAuthConfigError('The connection has no client secret.');
  return {
    provider: oauth1ProviderOf(pattern, accountInputs(pattern, plan.apiConfig), requestedScopes(connection, pattern)),
    client: { key: client.clientId, secret: client.secret },
    fetch: restrictedToTarget(fetchForOf(tools, plan)),
    now: tools.now,
    random: tools.random,
  };
}

function fetchForOf(tools: OAuth1ClientTools, { connection }: AuthorizationPlan): FetchFor {
  return (origins) => tools.fetchFor(connection.environmentId, origins);
}

/** @param others the other values of the provider's response */
function factsOf(
  tools: OAuth1ClientTools,
  plan: AuthorizationPlan,
  client: ClientCredentials,
  accessToken: Secret,
  tokenSecret: Secret | null,
  others: Readonly<Record<string, string>>,
): Promise<AccountFacts> {
  const { pattern, apiConfig } = plan;
  const authorize = boardAuthorizer(pattern, client, { accessToken, tokenSecret }, tools);
  return readAccountFacts({
    provider: oauthProviderOf(pattern, accountInputs(pattern, apiConfig)),
    client,
    accessToken,
    answer: new Secret(JSON.stringify(others)),
    nonce: null,
    fetchFor: fetchAs(fetchForOf(tools, plan), authorize),
    now: tools.now,
  });
}

function grantOf({ pattern, connection, apiConfig }: AuthorizationPlan, facts: AccountFacts, token: object): Grant {
  const { config, address } = oauthProviderOf(pattern, accountInputs(pattern, apiConfig));
  const addresses = oauthAddresses(config).filter(({ originFrom }) => originFrom === undefined);
  return {
    details: { oauth_token: { ...token, scopes: requestedScopes(connection, pattern) } },
    tokenExpiresAt: null,
    subject: facts.ok ? facts.subject : null,
    apiConfig: facts.ok ? facts.values : {},
    origins: [...new Set(addresses.map(({ template }) => new URL(address(template)).origin))],
  };
}
