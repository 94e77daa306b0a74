import type { Express, RequestHandler } from 'express';
import { PROVIDER_VERIFICATION } from '../../core/accounts/links/verification.ts';
import { REQUEST_BODY } from '../../core/budgets.ts';
import type { Catalogue } from '../../core/connectors/catalogue.ts';
import { displayName } from '../../core/mcp/ask-to-connect.ts';
import { findServer } from '../../core/mcp/server-definition.ts';
import { consentUrl, loginAddress, PROVIDER_CALLBACK_PATH } from '../../core/mcp-login/addresses.ts';
import { type Parameters, validateAuthorizationRequest } from '../../core/mcp-login/authorization-request.ts';
import { responseAddress } from '../../core/mcp-login/authorization-response.ts';
import { createClientDocuments, type DocumentDeps } from '../../core/mcp-login/client-document.ts';
import { needsConsent } from '../../core/mcp-login/consent.ts';
import { createLoginSlots } from '../../core/mcp-login/login-slots.ts';
import { isToken, mintToken } from '../../core/mcp-login/login-tokens.ts';
import { beginLogin, continueLogin, findLogin, isOfBrowser, issueCode } from '../../core/mcp-login/logins.ts';
import { isOnUsersMachine, redirectHost } from '../../core/mcp-login/redirect-uri.ts';
import type { LoginRequest, OAuthLoginRow } from '../../db/store.ts';
import { accessPage, type NameVerification } from '../../web/connect/access-page.ts';
import { badLoginPage, loginOverPage, staleFormPage } from '../../web/connect/message-pages.ts';
import { readBody } from '../body/body.ts';
import { PAGE_FORM } from '../body/body-rule.ts';
import type { Environment } from '../pipeline/environments.ts';
import { type Pairs, parsePairs } from '../pipeline/query.ts';
import { isCrossOrigin } from '../pipeline/same-origin.ts';
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
 * Adds the pages of logins for MCP clients: the authorization request, the return from the application, and the consent
 * of the user.
 */
export function addLoginPages(
  app: Express,
  page: (name: string, serve: Page) => RequestHandler,
  deps: LoginPageDeps,
): void {
  const documents = createClientDocuments(deps);
  const { store, digester } = deps;
  const providerLogins = createProviderLogins(deps);
  const linkVerification = createLinkVerification(deps);
  const slots = createLoginSlots(deps.now);

  /**
   * Returns the environment with its current settings, because the environment of the pipeline may be some seconds old.
   */
  async function currentOf({ id }: Environment): Promise<Environment> {
    return (await store.read.environments.get(id)) as Environment;
  }

  /** @returns where the browser goes; undefined if the environment has no such address, or too many logins are open */
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
    if (call.req.method === 'HEAD') return over(call);
    const answer = new URLSearchParams(queryOf(call.req.url));
    const verified = await linkVerification.finish(call, answer);
    if (verified) return verified;
    const redirect = await providerLogins.finish(call, answer);
    return redirect === undefined ? over(call) : { redirect };
  }

  /**
   * Continues a login after the application has redirected the browser back. The next page has a different secret, so
   * it can be reloaded.
   */
  async function continueHere(call: PageCall, continuation: string): Promise<PageReply> {
    const { req, environment } = call;
    if (req.method === 'HEAD' || !isToken(continuation)) return over(call);
    const continued = await continueLogin(deps, environment, continuation, readFlowCookie(req, environment));
    return continued.kind === 'continued' ? { redirect: consentUrl(environment, continued.consent) } : over(call);
  }

  /** Returns the login of a consent page, if it started in this browser. */
  async function loginOf({ req, environment }: PageCall, consent: string) {
    const browser = readFlowCookie(req, environment);
    const login = await findLogin(store.read, deps, environment.id, 'consent', consent);
    return login && browser !== undefined && isOfBrowser(deps, login, browser) ? { login, browser } : undefined;
  }

  async function show(call: PageCall, consent: string): Promise<PageReply> {
    const found = call.req.method === 'HEAD' ? undefined : await loginOf(call, consent);
    if (!found) return over(call);
    const { login, browser } = found;
    const environment = await currentOf(call.environment);
    if (!(await needsConsent(store.read, environment, login))) return sendCode(call, login);
    const formToken = formTokenOf(login, consent, browser).toString('base64url');
    const { redirectUri } = login.request;
    const page = accessPage(call.context, { ...(await viewOf(call, login)), formToken });
    return { status: 200, page, ...(!redirectUri.startsWith('https:') && { formTarget: formTargetOf(redirectUri) }) };
  }

  async function decide(call: PageCall, consent: string): Promise<PageReply> {
    const pairs = ((await readBody(call.req, PAGE_FORM, call.bodyHold)).value ?? {}) as Pairs;
    const found = await loginOf(call, consent);
    if (!found) return over(call);
    const { login, browser } = found;
    const given = Buffer.from(String(pairs['form_token'] ?? ''), 'base64url');
    if (isCrossOrigin(call.req) || !digester.equal(given, formTokenOf(login, consent, browser)))
      return { status: 403, page: staleFormPage(call.context) };
    return pairs['decision'] === 'allow' ? sendCode(call, login) : deny(call, login);
  }

  async function sendCode(call: PageCall, login: OAuthLoginRow): Promise<PageReply> {
    const code = await store.write((tx) => issueCode(tx, deps, login));
    return code === undefined ? over(call) : { redirect: responseAddress(call.environment, login.request, { code }) };
  }

  async function deny(call: PageCall, login: OAuthLoginRow): Promise<PageReply> {
    const ended = await store.write((tx) => tx.oauthLogins.delete(call.environment.id, login.id));
    const address = responseAddress(call.environment, login.request, { error: 'access_denied' });
    return ended ? { redirect: address } : over(call);
  }

  /**
   * Returns a token that only the consent page can know, because it depends on the secret of the page, the cookie of
   * the browser, and the content of the page.
   */
  function formTokenOf({ request, subject }: OAuthLoginRow, consent: string, browser: string): Buffer {
    return digester.digest('mcp login: form', consent, browser, JSON.stringify([request, subject]));
  }

  async function viewOf({ environment }: PageCall, { request, subject }: OAuthLoginRow) {
    const server = await findServer(store.read, environment.id, request.serverId);
    const connections = (server?.mappings ?? []).map(({ connection }) => connection);
    const { clientName, redirectUri, scopes } = request;
    return {
      client: clientName,
      verification: verificationOf(request),
      identifier: subject?.identifier ?? '',
      providers: await Promise.all(connections.map((connection) => displayName(deps, connection))),
      callsTools: scopes.includes('tools:call'),
      returnsTo: redirectHost(redirectUri),
      returnsToComputer: isOnUsersMachine(redirectUri) || !/^https?:/.test(redirectUri),
    };
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
    .get(page('showConsent', (call, { token = '' }) => show(call, token)))
    .post(page('submitConsent', (call, { token = '' }) => decide(call, token)))
    .all(otherMethods('GET', 'HEAD', 'POST'));
}

function loginElsewhere(issuer: string): string {
  return `Users of this server log in at ${issuer}: the client has to use that authorization server.`;
}

function over({ context }: PageCall): PageReply {
  return { status: 410, page: loginOverPage(context) };
}

function bad(status: number, text: string, { context, requestId }: PageCall): PageReply {
  return { status, page: badLoginPage(context, text, requestId) };
}

function queryOf(address = ''): string {
  const mark = address.indexOf('?');
  return mark < 0 ? '' : address.slice(mark + 1);
}

function verificationOf({ clientKind, clientId }: OAuthLoginRow['request']): NameVerification {
  if (clientKind === 'DOCUMENT') return { by: 'host', host: new URL(clientId).host };
  return clientKind === 'REGISTERED' ? { by: 'administrator' } : { by: 'no one' };
}

/**
 * Returns the notation of an address in a content security policy: its origin, or its scheme if it has no origin that
 * policies can express.
 */
function formTargetOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  return protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol;
}
