import { displayName } from '../../core/mcp/ask-to-connect.ts';
import { findServer } from '../../core/mcp/server-definition.ts';
import { responseAddress } from '../../core/mcp-login/authorization-response.ts';
import { needsConsent } from '../../core/mcp-login/consent.ts';
import { findLogin, isOfBrowser, issueCode } from '../../core/mcp-login/logins.ts';
import { isOnUsersMachine, redirectHost } from '../../core/mcp-login/redirect-uri.ts';
import type { OAuthLoginRow } from '../../db/store.ts';
import { accessPage, type NameVerification } from '../../web/connect/access-page.ts';
import { loginOverPage, staleFormPage } from '../../web/connect/message-pages.ts';
import { readBody } from '../body/body.ts';
import { PAGE_FORM } from '../body/body-rule.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Pairs } from '../pipeline/query.ts';
import { isCrossOrigin } from '../pipeline/same-origin.ts';
import { readFlowCookie } from './flow-cookie.ts';
import type { PageCall, PageReply } from './pages.ts';
import type { ProviderLoginPageDeps } from './provider-login.ts';

export type ConsentDeps = ProviderLoginPageDeps & Parameters<typeof displayName>[0];

/** The page on which a user allows or denies an MCP client access. */
export interface ConsentPage {
  /** Shows the page. If the user has consented before, redirects to the client with a code instead. */
  show(call: PageCall, consent: string): Promise<PageReply>;
  /** Handles the form of the page. */
  decide(call: PageCall, consent: string): Promise<PageReply>;
}

/** @param currentOf returns an environment with its current settings */
export function createConsentPage(
  deps: ConsentDeps,
  currentOf: (environment: Environment) => Promise<Environment>,
): ConsentPage {
  const { store, digester } = deps;

  /** Returns the login of a consent page, if it started in this browser. */
  async function loginOf({ req, environment }: PageCall, consent: string) {
    const browser = readFlowCookie(req, environment);
    const login = await findLogin(store.read, deps, environment.id, 'consent', consent);
    return login && browser !== undefined && isOfBrowser(deps, login, browser) ? { login, browser } : undefined;
  }

  async function show(call: PageCall, consent: string): Promise<PageReply> {
    const found = call.req.method === 'HEAD' ? undefined : await loginOf(call, consent);
    if (!found) return loginOver(call);
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
    if (!found) return loginOver(call);
    const { login, browser } = found;
    const given = Buffer.from(String(pairs['form_token'] ?? ''), 'base64url');
    if (isCrossOrigin(call.req) || !digester.equal(given, formTokenOf(login, consent, browser)))
      return { status: 403, page: staleFormPage(call.context) };
    return pairs['decision'] === 'allow' ? sendCode(call, login) : deny(call, login);
  }

  async function sendCode(call: PageCall, login: OAuthLoginRow): Promise<PageReply> {
    const code = await store.write((tx) => issueCode(tx, deps, login));
    return code === undefined
      ? loginOver(call)
      : { redirect: responseAddress(call.environment, login.request, { code }) };
  }

  async function deny(call: PageCall, login: OAuthLoginRow): Promise<PageReply> {
    const ended = await store.write((tx) => tx.oauthLogins.delete(call.environment.id, login.id));
    const address = responseAddress(call.environment, login.request, { error: 'access_denied' });
    return ended ? { redirect: address } : loginOver(call);
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

  return { show, decide };
}

/** Returns the page for a login that has ended, has expired, or started in another browser. */
export function loginOver({ context }: PageCall): PageReply {
  return { status: 410, page: loginOverPage(context) };
}

function verificationOf({ clientKind, clientId }: OAuthLoginRow['request']): NameVerification {
  if (clientKind === 'DOCUMENT') return { by: 'host', host: new URL(clientId).host };
  return clientKind === 'REGISTERED' ? { by: 'administrator' } : { by: 'no one' };
}

/**
 * Returns the source for a URI in a content security policy: its origin, or its scheme if a policy cannot express the
 * origin.
 */
function formTargetOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  return protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol;
}
