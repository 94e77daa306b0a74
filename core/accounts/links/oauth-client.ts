import type { EnvironmentId, Store } from '../../../db/store.ts';
import { moduleOf } from '../../authorization/registry.ts';
import { clientOf } from '../../connections/client.ts';
import { secureEndpoints } from '../../connections/client-endpoints.ts';
import { linkScopes } from '../../connections/scopes.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import { oauthAddresses } from '../../connectors/oauth-addresses.ts';
import { readAccountFacts } from '../../oauth/account-facts.ts';
import type { KeptAuthorization } from '../../oauth/authorization-request.ts';
import { beginAuthorization } from '../../oauth/begin-authorization.ts';
import type { ClientCredentials } from '../../oauth/client-auth.ts';
import type { Discovery } from '../../oauth/discovery.ts';
import { finishAuthorization, type Granted } from '../../oauth/grants/authorization-code.ts';
import { type OAuthProvider, withInputs } from '../../oauth/provider.ts';
import type { FetchFor, ProtocolFetch } from '../../oauth/transport.ts';
import type { Secret } from '../../secret.ts';
import type { Vault } from '../../vault/vault.ts';
import type { JsonObject } from '../merge.ts';
import { providerOf } from '../oauth-provider.ts';
import type { AuthorizationClient, AuthorizationPlan, Finished, Grant } from './authorization-client.ts';
import { settingErrorsAsOutcome } from './setting-errors.ts';

export interface OAuthClientDeps {
  store: Pick<Store, 'write'>;
  vault: Vault;
  discovery: Discovery;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** Returns a fetch that can reach only these origins. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  log: { warn(fields: object, message: string): void };
}

/** The values that every step of an authorization needs. */
interface Parts {
  provider: OAuthProvider;
  client: ClientCredentials;
  fetchFor: FetchFor;
  now: () => number;
}

/** The authorization code flow of OAuth 2 (RFC 6749 §4.1), for accounts of a connection. */
export function createOAuthClient(deps: OAuthClientDeps): AuthorizationClient {
  return {
    returnsByFragment: () => false,

    readState(pattern, answer) {
      const name = pattern?.oauth_config?.authorization?.callback_names?.['state'] ?? 'state';
      const [state, ...others] = answer.getAll(name);
      return others.length === 0 ? state : undefined;
    },

    begin: (plan) =>
      settingErrorsAsOutcome(async () => {
        const scopes = linkScopes(plan.connection, plan.pattern, plan.account);
        const parts = await partsOf(deps, plan);
        const { redirectUri } = plan;
        const begun = await beginAuthorization({ ...parts, redirectUri, scopes, random: deps.random });
        return begun.ok ? { ...begun, state: begun.kept.state } : { ok: false, message: begun.message };
      }),

    finish: (plan, kept, answer) =>
      settingErrorsAsOutcome(async () => {
        const authorization = kept as KeptAuthorization;
        const parts = await partsOf(deps, plan);
        const finished = await finishAuthorization({ ...parts, parameters: answer, kept: authorization });
        if (finished.ok) return granted(deps, plan, parts, authorization, finished);
        return { ok: false, kind: finished.kind === 'denied' ? 'refused' : 'failed', message: finished.message };
      }),
  };
}

async function partsOf(deps: OAuthClientDeps, plan: AuthorizationPlan): Promise<Parts> {
  const { store, vault, discovery, now } = deps;
  const { connection, pattern } = plan;
  const fetchFor: FetchFor = (origins) => deps.fetchFor(connection.environmentId, origins);
  const inputs = accountInputs(pattern, plan.apiConfig);
  const context = { provider: plan.provider, pattern, inputs, connection, needs: 'consent' } as const;
  const oauth = await providerOf({ discovery, fetchFor, now }, context);
  const secured = await secureEndpoints(store, vault, { ...plan, oauth }, now());
  return { provider: oauth, client: clientOf(vault, { ...plan, connection: secured }), fetchFor, now };
}

async function granted(
  { log }: OAuthClientDeps,
  { connection, pattern }: AuthorizationPlan,
  parts: Parts,
  { nonce }: KeptAuthorization,
  { tokens, answer, values }: Granted,
): Promise<Finished> {
  const provider = withInputs(parts.provider, values);
  const { accessToken, refreshToken, scopes, expiresAt } = tokens;
  const facts = await readAccountFacts({ ...parts, provider, accessToken, answer, nonce });
  const grant: Grant = {
    details: {
      oauth_token: {
        access_token: accessToken.reveal(),
        ...(refreshToken && { refresh_token: refreshToken.reveal() }),
        scopes,
      },
    },
    tokenExpiresAt: expiresAt,
    subject: facts.ok ? facts.subject : null,
    apiConfig: { ...values, ...(facts.ok && facts.values), ...configIn(pattern, answer) },
    origins: originsOf(provider),
  };
  if (facts.ok) return { ok: true, grant };
  // An account without the values that its API needs cannot be used. An account without the user's name can.
  if (provider.config.account_values?.length) return { ok: false, kind: 'failed', message: facts.message, grant };
  const fields = { connection_id: connection.id, reason: facts.message };
  log.warn(fields, 'an account was connected without its user at the provider, who could not be identified');
  return { ok: true, grant };
}

function configIn({ type }: AuthPattern, answer: Secret): JsonObject {
  return moduleOf(type).configOf?.(JSON.parse(answer.reveal())) ?? {};
}

/**
 * Returns the origins of the OAuth endpoints of the pattern and of the provider's metadata. An endpoint whose origin is
 * a value of the account is omitted.
 */
function originsOf({ config, address }: OAuthProvider): string[] {
  const plain = oauthAddresses(config).filter(({ originFrom }) => originFrom === undefined);
  return [...new Set(plain.map(({ template }) => new URL(address(template)).origin))];
}
