import type {
  EnvironmentId,
  EnvironmentRow,
  LoginRequest,
  LoginSubject,
  OAuthLoginRow,
  ReadRepositories,
  Repositories,
  Store,
} from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { Digester } from '../vault/digest.ts';
import { browserDigest, isToken, type LoginTokenKind, loginTokenDigest, mintToken } from './login-tokens.ts';

export interface LoginDeps {
  store: Store;
  digester: Digester;
  now(): number;
  random(size: number): Buffer;
  newId(prefix: 'lgn'): string;
}

/** How a login begins. */
export interface LoginBeginning {
  request: LoginRequest;
  /** The secret in the cookie of the browser in which the login begins. */
  cookie: string;
  /** The `state` sent to the login provider. If it is absent, a `login_request` for the application is created. */
  state?: string;
}

/**
 * Begins a login. It is bound to the browser with this cookie, and waits until the application or the login provider
 * identifies the user.
 *
 * @returns the `login_request` or the state; undefined if too many logins are open
 */
export async function beginLogin(
  deps: LoginDeps,
  environmentId: EnvironmentId,
  { request, cookie, state }: LoginBeginning,
): Promise<string | undefined> {
  const { store, digester, random, newId } = deps;
  const now = deps.now();
  const { loginMs, openLogins } = MCP_LOGIN;
  // Exchanged codes expire later than open logins, so this range leaves out most of them.
  const open = await store.read.oauthLogins.countExpiring(environmentId, now, now + loginMs, openLogins);
  if (open >= openLogins) return undefined;
  const [kind, token]: [LoginTokenKind, string] =
    state === undefined ? ['login request', mintToken(random)] : ['provider state', state];
  await store.write((tx) =>
    tx.oauthLogins.insert(environmentId, {
      id: newId('lgn'),
      tokenDigest: loginTokenDigest(digester, kind, token),
      browserDigest: browserDigest(digester, cookie),
      request,
      createdAt: now,
      expiresAt: now + MCP_LOGIN.loginMs,
    }),
  );
  return token;
}

/** The state in which each secret of a login is valid. */
const STATE_OF = {
  'login request': 'OPEN',
  'provider state': 'OPEN',
  continuation: 'COMPLETED',
  consent: 'CONSENT',
  code: 'CODE',
} as const;

/**
 * Finds a login by its current secret, whose kind must be the one that the login's state requires.
 *
 * @returns undefined if the secret is wrong or already used, or if the login has expired
 */
export async function findLogin(
  read: Pick<ReadRepositories, 'oauthLogins'>,
  { digester, now }: Pick<LoginDeps, 'digester' | 'now'>,
  environmentId: EnvironmentId,
  kind: LoginTokenKind,
  token: string | undefined,
): Promise<OAuthLoginRow | undefined> {
  if (!isToken(token)) return undefined;
  const login = await read.oauthLogins.byToken(environmentId, loginTokenDigest(digester, kind, token));
  return login?.state === STATE_OF[kind] && login.expiresAt > now() ? login : undefined;
}

/**
 * Changes a login to its next state.
 *
 * @returns the secret of that state; undefined if another request has changed the login first
 */
async function advance(
  tx: Repositories,
  { digester, now, random }: Pick<LoginDeps, 'digester' | 'now' | 'random'>,
  login: OAuthLoginRow,
  kind: 'continuation' | 'consent' | 'code',
  changes: { subject?: LoginSubject; expiresAt?: number },
): Promise<string | undefined> {
  const token = mintToken(random);
  const next = {
    state: STATE_OF[kind],
    tokenDigest: loginTokenDigest(digester, kind, token),
    expiresAt: changes.expiresAt ?? login.expiresAt,
    subject: changes.subject ?? login.subject,
    grantId: null,
  };
  const done = await tx.oauthLogins.advance(login.environmentId, { ...login, now: now() }, next);
  return done ? token : undefined;
}

/**
 * Stores the user of a login, as identified by the application. The `login_request` cannot be used again.
 *
 * @returns the login before the change, and the secret with which the browser continues; undefined if the login is
 * unknown, completed or expired
 */
export async function completeLogin(
  tx: Repositories,
  deps: Pick<LoginDeps, 'digester' | 'now' | 'random'>,
  environmentId: EnvironmentId,
  loginRequest: string,
  subject: LoginSubject,
): Promise<{ login: OAuthLoginRow; continuation: string } | undefined> {
  const login = await findLogin(tx, deps, environmentId, 'login request', loginRequest);
  const continuation = login && (await advance(tx, deps, login, 'continuation', { subject }));
  return continuation === undefined ? undefined : { login: login as OAuthLoginRow, continuation };
}

/**
 * Continues a login in the browser in which it began. Two secrets are required: the cookie, which only the browser that
 * began the login has, and the continuation, which only the browser of the identified user gets. If the cookie were not
 * checked, an attacker could begin a login, send its address to a user, and get access to that user's tools. A login
 * that is continued in another browser is deleted.
 *
 * @returns the secret of the consent page; `elsewhere` if it is another browser; `unknown` if the continuation is
 * wrong, used or expired
 */
export async function continueLogin(
  deps: LoginDeps,
  { id: environmentId }: EnvironmentRow,
  continuation: string,
  cookie: string | undefined,
): Promise<{ kind: 'continued'; consent: string } | { kind: 'unknown' } | { kind: 'elsewhere' }> {
  return deps.store.write(async (tx) => {
    const login = await findLogin(tx, deps, environmentId, 'continuation', continuation);
    if (!login) return { kind: 'unknown' };
    if (!isOfBrowser(deps, login, cookie)) {
      await tx.oauthLogins.delete(environmentId, login.id);
      return { kind: 'elsewhere' };
    }
    const consent = await advance(tx, deps, login, 'consent', {});
    return consent === undefined ? { kind: 'unknown' } : { kind: 'continued', consent };
  });
}

/**
 * Stores the user of a login whom the login provider identified. The caller has checked that the login began in this
 * browser.
 *
 * @returns the secret of the consent page; undefined if another request has changed the login first
 */
export function identifyLogin(
  tx: Repositories,
  deps: Pick<LoginDeps, 'digester' | 'now' | 'random'>,
  login: OAuthLoginRow,
  subject: LoginSubject,
): Promise<string | undefined> {
  return advance(tx, deps, login, 'consent', { subject });
}

/** Whether a login started in a browser with this cookie. */
export function isOfBrowser(
  { digester }: Pick<LoginDeps, 'digester'>,
  login: OAuthLoginRow,
  cookie: string | undefined,
): boolean {
  return cookie !== undefined && digester.equal(browserDigest(digester, cookie), login.browserDigest);
}

/** Creates the authorization code of a login. @returns undefined if another request has changed the login first */
export function issueCode(
  tx: Repositories,
  deps: Pick<LoginDeps, 'digester' | 'now' | 'random'>,
  login: OAuthLoginRow,
): Promise<string | undefined> {
  return advance(tx, deps, login, 'code', { expiresAt: deps.now() + MCP_LOGIN.codeMs });
}
