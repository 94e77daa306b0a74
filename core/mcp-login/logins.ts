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

export interface LoginTools {
  store: Store;
  digester: Digester;
  now(): number;
  random(size: number): Buffer;
  newId(prefix: 'lgn'): string;
}

/**
 * Begins a login: it belongs to the browser with this cookie, and waits for the application to say who the user is.
 *
 * @param cookie the secret of the browser
 * @returns the secret that the application gets; undefined when too many logins are under way
 */
export async function beginLogin(
  tools: LoginTools,
  environmentId: EnvironmentId,
  request: LoginRequest,
  cookie: string,
): Promise<string | undefined> {
  const { store, digester, random, newId } = tools;
  const now = tools.now();
  if ((await store.read.oauthLogins.countOpen(environmentId, now, MCP_LOGIN.openLogins)) >= MCP_LOGIN.openLogins)
    return undefined;
  const token = mintToken(random);
  await store.write((tx) =>
    tx.oauthLogins.insert(environmentId, {
      id: newId('lgn'),
      tokenDigest: loginTokenDigest(digester, 'login request', token),
      browserDigest: browserDigest(digester, cookie),
      request,
      createdAt: now,
      expiresAt: now + MCP_LOGIN.loginMs,
    }),
  );
  return token;
}

/** The states in which each secret of a login is valid. */
const STATE_OF = { 'login request': 'OPEN', continuation: 'COMPLETED', consent: 'CONSENT', code: 'CODE' } as const;

/** The login that a secret of some kind takes further now; undefined for a wrong, used or expired one. */
export async function findLogin(
  read: Pick<ReadRepositories, 'oauthLogins'>,
  { digester, now }: Pick<LoginTools, 'digester' | 'now'>,
  environmentId: EnvironmentId,
  kind: LoginTokenKind,
  token: string | undefined,
): Promise<OAuthLoginRow | undefined> {
  if (!isToken(token)) return undefined;
  const login = await read.oauthLogins.byToken(environmentId, loginTokenDigest(digester, kind, token));
  return login?.state === STATE_OF[kind] && login.expiresAt > now() ? login : undefined;
}

/** Takes a login to its next state. @returns the secret of that state; undefined when another request was faster */
async function advance(
  tx: Repositories,
  { digester, now, random }: Pick<LoginTools, 'digester' | 'now' | 'random'>,
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
 * Notes who the user of a login is, as the application says. Its request is used up.
 *
 * @returns the secret with which the browser continues; undefined when the login is unknown, completed or over
 */
export async function completeLogin(
  tx: Repositories,
  tools: Pick<LoginTools, 'digester' | 'now' | 'random'>,
  environmentId: EnvironmentId,
  loginRequest: string,
  subject: LoginSubject,
): Promise<{ login: OAuthLoginRow; continuation: string } | undefined> {
  const login = await findLogin(tx, tools, environmentId, 'login request', loginRequest);
  const continuation = login && (await advance(tx, tools, login, 'continuation', { subject }));
  return continuation === undefined ? undefined : { login: login as OAuthLoginRow, continuation };
}

/**
 * Continues a login in the browser in which it began. Both secrets are needed: the cookie, which only the browser of the beginning has,
 * and the continuation, which only the browser of the user has whom the application knows. Without the first, an attacker could send
 * the beginning of a login to a user and would get that user's tools. A login that is continued in another browser ends.
 *
 * @returns the secret of the consent page; `elsewhere` for another browser
 */
export async function continueLogin(
  tools: LoginTools,
  { id: environmentId }: EnvironmentRow,
  continuation: string,
  cookie: string | undefined,
): Promise<{ kind: 'continued'; consent: string } | { kind: 'unknown' } | { kind: 'elsewhere' }> {
  return tools.store.write(async (tx) => {
    const login = await findLogin(tx, tools, environmentId, 'continuation', continuation);
    if (!login) return { kind: 'unknown' };
    if (!isOfBrowser(tools, login, cookie)) {
      await tx.oauthLogins.delete(environmentId, login.id);
      return { kind: 'elsewhere' };
    }
    const consent = await advance(tx, tools, login, 'consent', {});
    return consent === undefined ? { kind: 'unknown' } : { kind: 'continued', consent };
  });
}

/** Whether a browser is the one in which a login began. */
export function isOfBrowser(
  { digester }: Pick<LoginTools, 'digester'>,
  login: OAuthLoginRow,
  cookie: string | undefined,
): boolean {
  return cookie !== undefined && digester.equal(browserDigest(digester, cookie), login.browserDigest);
}

/** Ends a login with a code for its client. @returns undefined when another request was faster */
export function issueCode(
  tx: Repositories,
  tools: Pick<LoginTools, 'digester' | 'now' | 'random'>,
  login: OAuthLoginRow,
): Promise<string | undefined> {
  return advance(tx, tools, login, 'code', { expiresAt: tools.now() + MCP_LOGIN.codeMs });
}
