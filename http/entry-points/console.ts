import { OPERATORS } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';
import { CONSOLE_PATH } from '../../core/operators/console-address.ts';
import { SESSION_GENERATION } from '../../core/operators/principal.ts';
import { scopesOf } from '../../core/operators/roles.ts';
import { actorOf, endSession, openSession, sessionOfCookie } from '../../core/operators/sessions.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import { issueAccessToken } from '../../core/tokens/access-token.ts';
import type { SigningKeys } from '../../core/tokens/signing-key.ts';
import type { OperatorSessionRow } from '../../db/store.ts';
import { readBody } from '../body/body.ts';
import { type BodyMemory, bodyHoldOf } from '../body/body-hold.ts';
import { JSON_BODY } from '../body/body-rule.ts';
import type { Reply } from '../contract.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { EntryPoint, Pipeline } from '../pipeline/pipeline.ts';
import { browserErrorReply } from '../responses/browser-error.ts';
import { respondUntyped } from '../responses/reply.ts';
import { COMPANY_CALLBACK, type CompanyLoginDeps, createCompanyLogins } from './company-login.ts';
import { type ConsoleFiles, createConsoleFiles } from './console-files.ts';
import { noSessionCookie, readSessionCookie, sessionCookie } from './session-cookie.ts';

export type ConsoleDeps = BodyMemory & CompanyLoginDeps & { signingKeys: SigningKeys };

type Action = (exchange: Exchange, environment: Environment) => Promise<Reply>;

const SECOND_MS = 1000;

/**
 * Serves the console and the sessions of its operators. The console is a client of the API: it exchanges the cookie of
 * its session for short-lived access tokens here, and then calls the API.
 */
export function createConsole(
  deps: ConsoleDeps,
  pipeline: Pipeline,
  files: ConsoleFiles = createConsoleFiles(),
): EntryPoint {
  const { store, now } = deps;
  const companyLogins = createCompanyLogins(deps);

  const actions: Record<string, Action> = {
    /** Exchanges the token of a one-time address for a session. */
    async 'POST /session'(exchange, environment) {
      const body = (await readBody(exchange.req, JSON_BODY, bodyHoldOf(exchange, deps))).value as { token?: unknown };
      const { requestId } = exchange;
      const origin = { environmentId: environment.id, requestId };
      const opened = await store.write((tx) => openSession(tx, deps, origin, body?.token));
      if (!opened) {
        const advice = 'Get a new one with `valetkey console`.';
        throw unauthenticated(`The one-time address is unknown, was used already, or has expired. ${advice}`);
      }
      const { session, cookie } = opened;
      return respondUntyped(200, present(session), {
        'set-cookie': sessionCookie(environment, cookie, OPERATORS.sessionMs / SECOND_MS),
      });
    },
    /** Issues an access token with the scopes of the operator's role. */
    async 'POST /session:token'(exchange, environment) {
      const session = await requireSession(exchange, environment);
      const at = now();
      const lifetimeMs = Math.min(OPERATORS.tokenMs, session.expiresAt - at);
      const facts = {
        issuer: environment.baseUrl,
        audience: environment.baseUrl,
        clientId: session.id,
        environmentId: environment.id,
        generation: SESSION_GENERATION,
        scopes: scopesOf(session.role),
      };
      const seconds = Math.max(1, Math.floor(lifetimeMs / SECOND_MS));
      const token = issueAccessToken(deps.signingKeys.current, facts, at, deps.random, seconds);
      await store.write((tx) => tx.operatorSessions.touch(environment.id, session.id, at));
      return respondUntyped(200, {
        ...present(session),
        access_token: token,
        expires_in: seconds,
        scopes: facts.scopes,
        environment: {
          id: environment.id,
          kind: environment.kind,
          base_url: environment.baseUrl,
          keep_events: environment.settings.keepEvents ?? false,
        },
      });
    },
    /** Returns how operators can log in. No session is needed. */
    async 'POST /session:options'() {
      return respondUntyped(200, { company_login_host: companyLogins.host });
    },
    /** Begins a login at the OpenID provider of the company. */
    async 'POST /session:begin'(_exchange, environment) {
      const { url, cookie } = await companyLogins.begin(environment);
      return respondUntyped(200, { url }, { 'set-cookie': cookie });
    },
    /**
     * The provider redirects the browser here. The login page then opens the session with a one-time token, as with an
     * address from `valetkey console`.
     */
    async [`GET ${COMPANY_CALLBACK}`](exchange, environment) {
      const { location, cookie } = await companyLogins.finish(exchange, environment);
      return respondUntyped(303, undefined, { location, 'set-cookie': cookie });
    },
    async 'POST /session:end'(exchange, environment) {
      const session = await findSession(exchange, environment);
      if (session) {
        const cause = { environmentId: environment.id, actor: actorOf(session), requestId: exchange.requestId };
        await store.write((tx) => endSession(tx, deps, cause, session.id));
      }
      return respondUntyped(204, undefined, {
        'set-cookie': noSessionCookie(environment),
        'clear-site-data': '"cache", "storage"',
      });
    },
  };

  const findSession = ({ req }: Exchange, environment: Environment) =>
    sessionOfCookie(store.read, deps, environment.id, readSessionCookie(req, environment));

  async function requireSession(exchange: Exchange, environment: Environment): Promise<OperatorSessionRow> {
    const session = await findSession(exchange, environment);
    if (!session) throw unauthenticated('There is no session, or it has ended. Log in with a new one-time address.');
    return session;
  }

  return {
    name: 'console',
    async dispatch(exchange) {
      const { req } = exchange;
      const path = (req.url ?? '/').replace(/\?.*$/s, '').slice(CONSOLE_PATH.length);
      if (!path.startsWith('/session')) return files.serve(exchange, path);
      const environment = await pipeline.findEnvironment(exchange);
      pipeline.limit(exchange);
      const method = path === COMPANY_CALLBACK ? 'GET' : 'POST';
      const action = Object.hasOwn(actions, `${method} ${path}`) ? actions[`${method} ${path}`] : undefined;
      if (!action) throw new ApiError('NOT_FOUND', 'The path does not exist.');
      if (req.method !== method) {
        exchange.responseHeaders['allow'] = method;
        throw new ApiError('METHOD_NOT_ALLOWED', `The path does not support this method (supported: ${method}).`);
      }
      // The provider's redirect comes from another site; the cookie of the login and the state protect it.
      if (path !== COMPANY_CALLBACK) requireOwnPage(exchange);
      return action(exchange, environment);
    },
    showError: browserErrorReply,
  };
}

/**
 * Only the console may use the cookie (CSRF). Browsers state which site sends a request, and pages of other sites
 * cannot send the required header without a preflight request.
 *
 * @throws ApiError ORIGIN_NOT_ALLOWED
 */
function requireOwnPage({ req: { headers } }: Exchange): void {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined ? URL.parse(headers.origin ?? '')?.host === headers.host : site === 'same-origin';
  if (!isOwn || headers['valetkey-console'] !== '1')
    throw new ApiError('ORIGIN_NOT_ALLOWED', 'Only requests of the console itself may use its session.');
}

function unauthenticated(detail: string): ApiError {
  return new ApiError('UNAUTHENTICATED', detail, { authFailure: { reason: 'operator_session' } });
}

function present({ id, operator, role, expiresAt }: OperatorSessionRow) {
  return { operator_session: { id, operator, role, expires_at: rfc3339(expiresAt) } };
}
