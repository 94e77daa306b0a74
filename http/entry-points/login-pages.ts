import type { Express, RequestHandler } from 'express';
import { PROVIDER_VERIFICATION } from '../../core/accounts/links/verification.ts';
import { REQUEST_BODY } from '../../core/budgets.ts';
import type { Catalogue } from '../../core/connectors/catalogue.ts';
import { consentUrl, loginAddress, PROVIDER_CALLBACK_PATH } from '../../core/mcp-login/addresses.ts';
import { type Parameters, validateAuthorizationRequest } from '../../core/mcp-login/authorization-request.ts';
import { responseAddress } from '../../core/mcp-login/authorization-response.ts';
import { createClientDocuments, type DocumentDeps } from '../../core/mcp-login/client-document.ts';
import { createLoginSlots } from '../../core/mcp-login/login-slots.ts';
import { isToken, mintToken } from '../../core/mcp-login/login-tokens.ts';
import { beginLogin, continueLogin } from '../../core/mcp-login/logins.ts';
import type { LoginRequest } from '../../db/store.ts';
import { badLoginPage } from '../../web/connect/message-pages.ts';
import type { Environment } from '../pipeline/environments.ts';
import { parsePairs } from '../pipeline/query.ts';
import { createConsentPage, loginOver } from './consent-page.ts';
import { otherMethods } from './express-entry-point.ts';
import { flowCookie, readFlowCookie } from './flow-cookie.ts';
import { createLinkVerification, type LinkVerificationDeps } from './link-verification.ts';
import type { Page, PageCall, PageReply } from './pages.ts';
import { createProviderLogins, type ProviderLoginPageDeps } from './provider-login.ts';

export type LoginPageDeps = ProviderLoginPageDeps &
  LinkVerificationDeps &
  DocumentDeps & { readonly catalogue: Catalogue };

const NO_LOGIN =
  'Users cannot log in at this server yet: its administrator has to set mcp_login_url or a login provider.';
const TOO_MANY = 'There are too many unfinished logins at the moment. Try again in a few minutes.';
const TOO_MANY_OF_ADDRESS = 'Too many logins were started from your network. Try again in a few minutes.';

/**
 * Adds the pages of logins for MCP clients: the authorization request, the return from the application or the login
 * provider, and the consent of the user. Also adds the page that verifies the user of a link at the login provider.
 */
export function addLoginPages(
  app: Express,
  page: (name: string, serve: Page) => RequestHandler,
  deps: LoginPageDeps,
): void {
  const documents = createClientDocuments(deps);
  const { store } = deps;
  const consentPage = createConsentPage(deps, currentOf);
  const providerLogins = createProviderLogins(deps);
  const linkVerification = createLinkVerification(deps);
  const slots = createLoginSlots(deps.now);

  /**
   * Returns the environment with its current settings, because the environment of the pipeline may be some seconds old.
   */
  async function currentOf({ id }: Environment): Promise<Environment> {
    return (await store.read.environments.get(id)) as Environment;
  }

  /** @returns the URL to redirect the browser to; undefined without `mcp_login_url`, or if too many logins are open */
  async function beginAtApplication(current: Environment, request: LoginRequest, cookie: string) {
    const { mcpLoginUrl } = current.settings;
    const loginRequest = mcpLoginUrl && (await beginLogin(deps, current.id, { request, cookie }));
    return mcpLoginUrl && loginRequest ? loginAddress(mcpLoginUrl, loginRequest) : undefined;
  }

  async function authorize(call: PageCall): Promise<PageReply> {
    const { req, environment } = call;
    if (req.method === 'HEAD') return bad(400, 'A login begins with a GET request.', call);
    const parameters = parsePairs(queryOf(req.url), 'the query', REQUEST_BODY.queryPairs) as Parameters;
    const current = await currentOf(environment);
    const result = await validateAuthorizationRequest(store.read, documents, current, parameters);
    if (result.kind === 'refused') return bad(result.busy ? 503 : 400, result.message, call);
    if (result.kind === 'error') {
      const { error, description } = result;
      return { redirect: responseAddress(environment, result, { error, error_description: description }) };
    }
    const provider = await store.read.loginProviders.get(environment.id);
    if (provider?.type === 'JWT') return bad(400, loginElsewhere(provider.issuer), call);
    if (!slots.take(environment.id, call.address)) return bad(429, TOO_MANY_OF_ADDRESS, call);
    const known = readFlowCookie(req, environment);
    const cookie = known ?? mintToken(deps.random);
    const redirect = provider
      ? await providerLogins.begin(call, provider, result.request, cookie)
      : await beginAtApplication(current, result.request, cookie);
    if (redirect === undefined) return bad(503, current.settings.mcpLoginUrl || provider ? TOO_MANY : NO_LOGIN, call);
    return { redirect, ...(!known && { cookie: flowCookie(environment, cookie) }) };
  }

  /** Continues a login after the login provider has redirected the browser back. */
  async function returnFromProvider(call: PageCall): Promise<PageReply> {
    if (call.req.method === 'HEAD') return loginOver(call);
    const answer = new URLSearchParams(queryOf(call.req.url));
    const verified = await linkVerification.finish(call, answer);
    if (verified) return verified;
    const redirect = await providerLogins.finish(call, answer);
    return redirect === undefined ? loginOver(call) : { redirect };
  }

  /**
   * Continues a login after the application has redirected the browser back. The address of the consent page contains
   * another secret, which can be used several times, so the consent page can be reloaded.
   */
  async function continueHere(call: PageCall, continuation: string): Promise<PageReply> {
    const { req, environment } = call;
    if (req.method === 'HEAD' || !isToken(continuation)) return loginOver(call);
    const continued = await continueLogin(deps, environment, continuation, readFlowCookie(req, environment));
    return continued.kind === 'continued' ? { redirect: consentUrl(environment, continued.consent) } : loginOver(call);
  }

  app.route('/oauth/authorize').get(page('authorize', authorize)).all(otherMethods('GET', 'HEAD'));
  app.route(PROVIDER_CALLBACK_PATH).get(page('finishLogin', returnFromProvider)).all(otherMethods('GET', 'HEAD'));
  app
    .route(PROVIDER_VERIFICATION)
    .get(page('verifyLink', (call) => linkVerification.begin(call, new URLSearchParams(queryOf(call.req.url)))))
    .all(otherMethods('GET', 'HEAD'));
  app
    .route('/oauth/login/:token')
    .get(page('continueLogin', (call, { token = '' }) => continueHere(call, token)))
    .all(otherMethods('GET', 'HEAD'));
  app
    .route('/oauth/consent/:token')
    .get(page('showConsent', (call, { token = '' }) => consentPage.show(call, token)))
    .post(page('submitConsent', (call, { token = '' }) => consentPage.decide(call, token)))
    .all(otherMethods('GET', 'HEAD', 'POST'));
}

function loginElsewhere(issuer: string): string {
  return `Users of this server log in at ${issuer}: the client has to use that authorization server.`;
}

function bad(status: number, text: string, { context, requestId }: PageCall): PageReply {
  return { status, page: badLoginPage(context, text, requestId) };
}

function queryOf(address = ''): string {
  const mark = address.indexOf('?');
  return mark < 0 ? '' : address.slice(mark + 1);
}
