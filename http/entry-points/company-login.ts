import { OPERATORS } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';
import type { KeptAuthorization } from '../../core/oauth/authorization-request.ts';
import type { Discovery } from '../../core/oauth/discovery.ts';
import { beginOpenIdLogin, finishOpenIdLogin, type OpenIdDeps } from '../../core/oauth/openid-login.ts';
import type { ProtocolFetch } from '../../core/oauth/transport.ts';
import { type CompanyLogin, operatorOf } from '../../core/operators/company-login.ts';
import { CONSOLE_PATH, loginAddress } from '../../core/operators/console-address.ts';
import { actorOf, type OperatorDeps, offerSession } from '../../core/operators/sessions.ts';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
import type { EnvironmentId, Store } from '../../db/store.ts';
import type { Logger } from '../monitoring/log.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { browserCookie } from './browser-cookie.ts';

export interface CompanyLoginDeps extends OperatorDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly discovery: Discovery;
  /** Encrypts the data that the browser stores while the operator is at the provider. */
  readonly sealedData: SealedTokens;
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  /** null if operators log in with one-time addresses only. */
  readonly companyLogin: CompanyLogin | null;
}

/** Logins of operators at the OpenID provider of their company. */
export interface CompanyLogins {
  /** The host of the provider, for the login page; null if no provider is configured. */
  readonly host: string | null;
  /** @throws ApiError NOT_FOUND without a provider, SERVER_BUSY if the provider cannot be used at the moment */
  begin(environment: Environment): Promise<{ url: string; cookie: string }>;
  /** @returns the URL to redirect the browser to, and the Set-Cookie value that removes the cookie of the login */
  finish(exchange: Exchange, environment: Environment): Promise<{ location: string; cookie: string }>;
}

/** The path to which the provider redirects the browser, relative to the path of the console. */
export const COMPANY_CALLBACK = '/session/callback';

/** Binds a login to the browser in which it began: no other browser has the verifier, the state and the nonce. */
const COOKIE = browserCookie('valetkey-console-login', (text) => /^[\w-]{1,4000}$/.test(text ?? ''));
const KEPT = 'login of an operator';

/** Why a login failed, for the login page. Error texts of the provider are never shown. */
type Failure = 'over' | 'denied' | 'no_role' | 'failed' | 'busy';

export function createCompanyLogins(deps: CompanyLoginDeps): CompanyLogins {
  const { store, log, sealedData, companyLogin: login } = deps;

  const toolsFor = ({ id: partition }: Environment): OpenIdDeps => ({
    discovery: deps.discovery,
    partition,
    fetchFor: (origins) => deps.fetchFor(partition, origins),
    now: deps.now,
    random: deps.random,
  });
  const callbackOf = ({ baseUrl }: Environment) => `${baseUrl}${CONSOLE_PATH}${COMPANY_CALLBACK}`;
  /** Part of the encryption context, so a login that began with other settings cannot be finished. */
  const placeOf = ({ id }: Environment, { issuer, client }: CompanyLogin) => [id, issuer, client.clientId];

  /** @returns the one-time token with which the login page opens the session, or why the login failed */
  async function openSession(exchange: Exchange, environment: Environment): Promise<{ token: string } | Failure> {
    const { req, requestId } = exchange;
    const sealed = COOKIE.read(req, environment);
    const text = login && sealed !== undefined ? sealedData.open(KEPT, placeOf(environment, login), sealed) : null;
    if (!login || text === null) return 'over';
    const query = new URLSearchParams((req.url ?? '').split('?')[1] ?? '');
    const kept = JSON.parse(text) as KeptAuthorization;
    const finished = await finishOpenIdLogin(toolsFor(environment), login, kept, query);
    if (!finished.ok) {
      log.warn({ request_id: requestId, reason: finished.message }, 'the login of an operator failed');
      return finished.denied ? 'denied' : 'failed';
    }
    const known = operatorOf(login, finished.claims);
    if (!known.ok) {
      log.warn({ request_id: requestId, reason: known.message }, 'the login of an operator was denied');
      return 'no_role';
    }
    const cause = { environmentId: environment.id, actor: actorOf(known), requestId };
    try {
      return await store.write((tx) => offerSession(tx, deps, cause, known));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'TOO_MANY_SESSIONS') return 'busy';
      throw error;
    }
  }

  return {
    host: login === null ? null : new URL(login.issuer).host,
    async begin(environment) {
      if (!login)
        throw new ApiError(
          'NOT_FOUND',
          'This server has no OpenID provider for operators. Log in with the address that valetkey console prints.',
        );
      const begun = await beginOpenIdLogin(toolsFor(environment), login, callbackOf(environment));
      if (!begun.ok) {
        log.warn({ reason: begun.message }, 'the login of an operator could not begin');
        throw new ApiError('SERVER_BUSY', 'The login provider cannot be used at the moment. Try again later.');
      }
      const expiresAt = deps.now() + OPERATORS.companyLoginMs;
      const kept = sealedData.seal(KEPT, placeOf(environment, login), JSON.stringify(begun.kept), expiresAt);
      return { url: begun.url, cookie: COOKIE.set(environment, kept) };
    },
    async finish(exchange, environment) {
      const opened = await openSession(exchange, environment);
      const location =
        typeof opened === 'string'
          ? `${environment.baseUrl}${CONSOLE_PATH}/login?failed=${opened}`
          : loginAddress(environment, opened.token);
      return { location, cookie: COOKIE.remove(environment) };
    },
  };
}
