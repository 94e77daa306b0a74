import { tokenDigest } from '../../core/accounts/links/tokens.ts';
import { PROVIDER_VERIFICATION } from '../../core/accounts/links/verification.ts';
import { type Verified, type VerifyDeps, verify } from '../../core/accounts/links/verify.ts';
import { MCP_LOGIN } from '../../core/budgets.ts';
import { createLoginSlots } from '../../core/mcp-login/login-slots.ts';
import {
  beginProviderLogin,
  finishProviderLogin,
  type ProviderLoginDeps,
} from '../../core/mcp-login/provider-login.ts';
import type { LoginProviderRow, Store } from '../../db/store.ts';
import { badLoginPage, expiredPage } from '../../web/connect/message-pages.ts';
import { browserCookie } from './browser-cookie.ts';
import type { PageCall, PageReply } from './pages.ts';

export interface LinkVerificationDeps extends ProviderLoginDeps, VerifyDeps {
  readonly store: Store;
  readonly log: { warn(fields: object, message: string): void };
}

/** The login of a user who has finished a link, at the OpenID provider of the environment. */
export interface LinkVerification {
  /** Redirects the user to the provider. */
  begin(call: PageCall, query: URLSearchParams): Promise<PageReply>;
  /**
   * Verifies the user after the return from the provider, and makes the account usable.
   *
   * @returns undefined if the browser did not begin this login for a link
   */
  finish(call: PageCall, answer: URLSearchParams): Promise<PageReply | undefined>;
}

/**
 * Contains the state of the login, the secret of the finished link, and the sealed request to the provider. So the
 * login can be finished in this browser only.
 */
const COOKIE = browserCookie('valetkey-link-login', (text) =>
  /^[\w-]{1,100}\.[\w-]{1,100}\.[\w-]{1,3500}$/.test(text ?? ''),
);

const TEXTS: Record<Exclude<Verified['kind'], 'verified' | 'unknown'> | 'failed' | 'none' | 'busy', string> = {
  mismatch:
    'You are logged in as a different user than this link was created for, so nothing was connected. Ask for a new link.',
  subject_changed:
    'You have chosen another account than before, so nothing was connected. Use a new link and the same account.',
  failed: 'The login at your company failed, so nothing was connected. Open the link again, or ask for a new one.',
  none: 'Users cannot log in at this server. Ask its administrator.',
  busy: 'Too many logins were started from your network. Try again in a few minutes.',
};

export function createLinkVerification(deps: LinkVerificationDeps): LinkVerification {
  const { store, digester, log } = deps;
  const slots = createLoginSlots(deps.now);

  async function providerOf({ environment }: PageCall): Promise<LoginProviderRow | undefined> {
    const provider = await store.read.loginProviders.get(environment.id);
    return provider?.type === 'OIDC' ? provider : undefined;
  }

  async function isWaiting({ environment }: PageCall, authRequestId: string): Promise<boolean> {
    const digest = tokenDigest(digester, 'auth request', authRequestId);
    const request = await store.read.authRequests.byRequest(environment.id, digest);
    return request?.state === 'PENDING_VERIFICATION' && request.userVerifyUrl === PROVIDER_VERIFICATION;
  }

  function refused(call: PageCall, status: number, reason: keyof typeof TEXTS): PageReply {
    return {
      status,
      page: badLoginPage(call.context, TEXTS[reason], call.requestId),
      cookie: COOKIE.remove(call.environment),
    };
  }

  /** Returns a page with a fixed text: nothing that the provider sent is repeated. */
  function failed(call: PageCall, message: string): PageReply {
    log.warn({ request_id: call.requestId, reason: message }, 'the user of a link could not be verified');
    return refused(call, 403, 'failed');
  }

  return {
    async begin(call, query) {
      const { req, environment, context } = call;
      const authRequestId = query.get('auth_request_id') ?? '';
      if (req.method === 'HEAD' || !(await isWaiting(call, authRequestId)))
        return { status: 410, page: expiredPage(context) };
      const provider = await providerOf(call);
      if (!provider) return refused(call, 503, 'none');
      if (!slots.take(environment.id, call.address)) return refused(call, 429, 'busy');
      const begun = await beginProviderLogin(deps, environment, provider, deps.now() + MCP_LOGIN.loginMs);
      if (!begun.ok) return failed(call, begun.message);
      return {
        redirect: begun.url,
        cookie: COOKIE.set(environment, [begun.state, authRequestId, begun.kept].join('.')),
      };
    },

    async finish(call, answer) {
      const { req, environment, cause } = call;
      const [state, authRequestId = '', kept = ''] = COOKIE.read(req, environment)?.split('.') ?? [];
      if (state === undefined || answer.get('state') !== state) return undefined;
      const provider = await providerOf(call);
      if (!provider) return refused(call, 503, 'none');
      const finished = await finishProviderLogin(deps, provider, kept, answer);
      if (!finished.ok) return failed(call, finished.message);
      const { identifier, organizationId, userId } = finished.subject;
      const verification = { authRequestId, identifier, owner: { organizationId, userId }, allowSubjectChange: false };
      // Failures are returned and not thrown, because the transaction counts them, so it must be committed.
      const verified = await store.write((tx) =>
        verify(tx, deps, environment, verification, { ...cause, actor: provider.id }),
      );
      if (verified.kind === 'verified') return { redirect: verified.redirectUrl, cookie: COOKIE.remove(environment) };
      if (verified.kind === 'unknown')
        return { status: 410, page: expiredPage(call.context), cookie: COOKIE.remove(environment) };
      return refused(call, 403, verified.kind);
    },
  };
}
