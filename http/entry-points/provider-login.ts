import { MCP_LOGIN } from '../../core/budgets.ts';
import type { Events } from '../../core/events/events.ts';
import { consentUrl } from '../../core/mcp-login/addresses.ts';
import { responseAddress } from '../../core/mcp-login/authorization-response.ts';
import { beginLogin, findLogin, identifyLogin, isOfBrowser, type LoginDeps } from '../../core/mcp-login/logins.ts';
import {
  beginProviderLogin,
  finishProviderLogin,
  type ProviderLoginDeps,
} from '../../core/mcp-login/provider-login.ts';
import type { LoginProviderRow, LoginRequest, LoginSubject, OAuthLoginRow } from '../../db/store.ts';
import type { Environment } from '../pipeline/environments.ts';
import { readFlowCookie } from './flow-cookie.ts';
import type { PageCall } from './pages.ts';

export interface ProviderLoginPageDeps extends LoginDeps, ProviderLoginDeps {
  readonly events: Events;
  readonly log: { warn(fields: object, message: string): void };
}

/** The steps of a login at the OpenID provider of an environment. */
export interface ProviderLogins {
  /**
   * @returns the URL to redirect the browser to: the provider, or the client if the login cannot begin; undefined if
   * too many logins are open
   */
  begin(call: PageCall, provider: LoginProviderRow, request: LoginRequest, cookie: string): Promise<string | undefined>;
  /**
   * @returns the URL to redirect the browser to: the consent page, or the client if the login failed; undefined if the
   * browser did not begin such a login, or the login has ended
   */
  finish(call: PageCall, answer: URLSearchParams): Promise<string | undefined>;
}

export function createProviderLogins(deps: ProviderLoginPageDeps): ProviderLogins {
  const { store, events, log } = deps;

  async function userKnown(call: PageCall, login: OAuthLoginRow, subject: LoginSubject): Promise<string | undefined> {
    const { clientId, serverId } = login.request;
    const { organizationId, userId, identifier } = subject;
    return store.write(async (tx) => {
      const consent = await identifyLogin(tx, deps, login, subject);
      if (consent === undefined) return undefined;
      await events.emit(tx, call.cause, {
        type: 'mcp_login.completed',
        subject: login.id,
        details: {
          client_id: clientId,
          server_id: serverId,
          user: { organization_id: organizationId || null, user_id: userId || null, identifier },
        },
        data: () => ({ login_id: login.id }),
      });
      return consentUrl(call.environment, consent);
    });
  }

  /**
   * Returns the URL that tells the client that the login failed. The text is fixed: nothing that the provider sent is
   * repeated.
   */
  function failed(environment: Environment, request: LoginRequest, denied: boolean, message: string): string {
    log.warn({ reason: message }, 'a login at the login provider failed');
    const error = denied ? 'access_denied' : 'temporarily_unavailable';
    return responseAddress(environment, request, { error, error_description: message });
  }

  return {
    async begin({ environment }, provider, request, cookie) {
      const begun = await beginProviderLogin(deps, environment, provider, deps.now() + MCP_LOGIN.loginMs);
      if (!begun.ok) return failed(environment, request, begun.denied, begun.message);
      const { state, kept, url } = begun;
      const stored = { ...request, loginProvider: { id: provider.id, kept } };
      const open = await beginLogin(deps, environment.id, { request: stored, cookie, state });
      return open === undefined ? undefined : url;
    },

    async finish(call, answer) {
      const { environment, req } = call;
      const states = answer.getAll('state');
      if (states.length !== 1) return undefined;
      const login = await findLogin(store.read, deps, environment.id, 'provider state', states[0]);
      if (!login) return undefined;
      // Without this check, an attacker could begin a login, and send the provider's address to a user who is logged in
      // there. That user would then complete the attacker's login.
      if (!isOfBrowser(deps, login, readFlowCookie(req, environment))) {
        await store.write((tx) => tx.oauthLogins.delete(environment.id, login.id));
        return undefined;
      }
      const { id, kept } = login.request.loginProvider as NonNullable<LoginRequest['loginProvider']>;
      const provider = await store.read.loginProviders.get(environment.id);
      const finished =
        provider?.id === id && provider.type === 'OIDC'
          ? await finishProviderLogin(deps, provider, kept, answer)
          : { ok: false as const, denied: false, message: 'The login provider was changed. Log in again.' };
      if (finished.ok) return userKnown(call, login, finished.subject);
      const ended = await store.write((tx) => tx.oauthLogins.delete(environment.id, login.id));
      return ended ? failed(environment, login.request, finished.denied, finished.message) : undefined;
    },
  };
}
