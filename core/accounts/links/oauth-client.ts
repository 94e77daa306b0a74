import type { EnvironmentId } from '../../../db/store.ts';
import { clientOf } from '../../connections/client.ts';
import { requestedScopes } from '../../connections/scopes.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import { accountInputs } from '../../connectors/base-url.ts';
import { readAccountFacts } from '../../oauth/account-facts.ts';
import type { KeptAuthorization } from '../../oauth/authorization-request.ts';
import { beginAuthorization } from '../../oauth/begin-authorization.ts';
import { finishAuthorization, type Granted } from '../../oauth/grants/authorization-code.ts';
import { settingProblem } from '../../oauth/problem.ts';
import { type OAuthProvider, oauthProviderOf, withInputs } from '../../oauth/provider.ts';
import type { FetchFor, ProtocolFetch } from '../../oauth/transport.ts';
import type { Vault } from '../../vault/vault.ts';
import type { AuthorizationClient, AuthorizationPlan, Finished } from './authorization-client.ts';

export interface OAuthClientTools {
  vault: Vault;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** A fetch that reaches these origins only. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  log: { warn(fields: object, message: string): void };
}

/** The authorization code of OAuth 2 (RFC 6749 §4.1), for accounts of a connection. */
export function createOAuthClient(tools: OAuthClientTools): AuthorizationClient {
  const { vault, now, random } = tools;
  const partsOf = ({ connection, pattern, apiConfig }: AuthorizationPlan) => {
    const fetchFor: FetchFor = (origins) => tools.fetchFor(connection.environmentId, origins);
    const provider = oauthProviderOf(pattern, accountInputs(pattern, apiConfig));
    return { provider, client: clientOf(vault, connection, pattern), fetchFor, now };
  };
  return {
    supports: ({ type, oauth_config: config }) =>
      (type === 'OAUTH' || type === 'SMART_FHIR') && config?.authorize_uri !== undefined,

    readState: (pattern, answer) => {
      const [state, ...others] = answer.getAll(stateName(pattern));
      return others.length === 0 ? state : undefined;
    },

    async begin(plan) {
      const { redirectUri, connection, pattern } = plan;
      const scopes = requestedScopes(connection, pattern);
      return explained(async () => {
        const begun = await beginAuthorization({ ...partsOf(plan), redirectUri, scopes, random });
        return begun.ok ? { ...begun, state: begun.kept.state } : { ok: false as const, message: begun.message };
      });
    },

    async finish(plan, kept, answer) {
      return explained(async () => {
        const parts = partsOf(plan);
        const authorization = kept as KeptAuthorization;
        const finished = await finishAuthorization({ ...parts, parameters: answer, kept: authorization });
        if (finished.ok) return granted(tools, parts, authorization, finished);
        const kind = finished.kind === 'denied' ? 'refused' : 'failed';
        return { ok: false as const, kind, message: finished.message };
      });
    },
  };
}

function stateName(pattern: AuthPattern | undefined): string {
  return pattern?.oauth_config?.authorization?.callback_names?.['state'] ?? 'state';
}

/** A setting that is missing or does not fit is nobody's crash: an operator reads why in the log. */
async function explained<T>(run: () => Promise<T>): Promise<T | { ok: false; kind: 'failed'; message: string }> {
  try {
    return await run();
  } catch (error) {
    const message = settingProblem(error);
    if (message === undefined) throw error;
    return { ok: false, kind: 'failed', message };
  }
}

async function granted(
  { log }: OAuthClientTools,
  {
    fetchFor,
    client,
    now,
    ...parts
  }: { provider: OAuthProvider; fetchFor: FetchFor } & Pick<Parameters<typeof readAccountFacts>[0], 'client' | 'now'>,
  { nonce, tokenEndpoint }: KeptAuthorization,
  { tokens, answer, values }: Granted,
): Promise<Finished> {
  const provider = withInputs(parts.provider, values);
  const { accessToken, refreshToken, scopes, expiresAt } = tokens;
  const facts = await readAccountFacts({ provider, client, accessToken, answer, nonce, fetchFor, now });
  const grant = {
    details: {
      oauth_token: {
        access_token: accessToken.reveal(),
        ...(refreshToken && { refresh_token: refreshToken.reveal() }),
        scopes,
      },
    },
    tokenExpiresAt: expiresAt,
    subject: facts.ok ? facts.subject : null,
    apiConfig: { ...values, ...(facts.ok && facts.values) },
    origins: [new URL(tokenEndpoint).origin],
  };
  if (facts.ok) return { ok: true, grant };
  // Without a value that the API needs the account would be of no use; without a name of the person it is.
  if (provider.config.account_values?.length) return { ok: false, kind: 'failed', message: facts.message, grant };
  log.warn({ reason: facts.message }, 'provider did not say whose account it is');
  return { ok: true, grant };
}
