import type {
  EnvironmentId,
  EnvironmentRow,
  LoginSubject,
  PortalSessionRow,
  ReadRepositories,
  Store,
  Transaction,
} from '../../db/store.ts';
import { requireListed } from '../accounts/links/verify-url.ts';
import { PORTAL } from '../budgets.ts';
import type { Cause, Events } from '../events/events.ts';
import { mayIdentifyUsers } from '../mcp-login/login-provider.ts';
import type { Digester } from '../vault/digest.ts';
import { requireReturnUrl } from './return-url.ts';
import { isToken, mintToken, sessionDigest } from './session-tokens.ts';

export interface SessionDeps {
  digester: Pick<Digester, 'digest' | 'equal'>;
  events: Events;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

export interface CreateSessionDeps extends SessionDeps {
  newId(prefix: 'psn'): string;
}

/** The user of a portal session. An empty `organizationId` or `userId` means that there is none. */
export interface PortalUser {
  organizationId: string;
  userId: string;
  identifier: string;
}

export interface SessionRequest extends PortalUser {
  userVerifyUrl: string | undefined;
  returnUrl: string | undefined;
  language: string | undefined;
}

/**
 * Creates a portal session for a user.
 *
 * @param environment the row as it was read within the transaction
 * @returns the id of the session, the one-time URL that opens it, and the time until which the URL can be opened (in
 * milliseconds UTC)
 * @throws ApiError VALIDATION_FAILED for an address that is not allowed
 */
export async function createSession(
  tx: Transaction,
  deps: CreateSessionDeps,
  environment: EnvironmentRow,
  request: SessionRequest,
  apiClientId: string,
  cause: Cause,
): Promise<{ id: string; url: string; expiresAt: number }> {
  const { userVerifyUrl, returnUrl, language, organizationId, userId, identifier } = request;
  const token = mintToken(deps.random);
  const at = deps.now();
  const session = {
    id: deps.newId('psn'),
    tokenDigest: sessionDigest(deps.digester, 'url', token),
    organizationId,
    userId,
    identifier,
    userVerifyUrl: userVerifyUrl === undefined ? null : requireListed(environment, userVerifyUrl),
    returnUrl: returnUrl === undefined ? null : requireReturnUrl(environment, returnUrl),
    language: language ?? null,
    apiClientId,
    createdAt: at,
    expiresAt: at + PORTAL.urlMs,
  };
  await tx.portalSessions.insert(environment.id, session);
  await emitSession(tx, deps, 'portal_session.created', session, cause);
  return { id: session.id, url: `${environment.baseUrl}/portal/open/${token}`, expiresAt: session.expiresAt };
}

/**
 * Opens a session with the secret of its one-time URL, which then no longer works.
 *
 * @returns the secret for the browser's cookie; undefined if the URL is unknown, used or expired, or the API client
 * that created the session is disabled
 */
export function openSession(
  { store, ...tools }: SessionDeps & { store: Store },
  environmentId: EnvironmentId,
  token: string,
  requestId: string,
): Promise<string | undefined> {
  if (!isToken(token)) return Promise.resolve(undefined);
  return store.write(async (tx) => {
    const now = tools.now();
    const urlDigest = sessionDigest(tools.digester, 'url', token);
    const session = await tx.portalSessions.byToken(environmentId, urlDigest);
    if (!session || !(await mayIdentifyUsers(tx, environmentId, session.apiClientId, now))) return undefined;
    return giveCookie(tx, tools, environmentId, { ...session, tokenDigest: urlDigest }, requestId);
  });
}

/**
 * Opens a session for a user whom the login provider of the environment has identified.
 *
 * @returns the secret for the browser's cookie; undefined if the provider was changed during the login
 */
export function enterSession(
  { store, ...tools }: CreateSessionDeps & { store: Store },
  environmentId: EnvironmentId,
  { organizationId, userId, identifier, userVerifyUrl, identifiedBy }: LoginSubject,
  requestId: string,
): Promise<string | undefined> {
  return store.write(async (tx) => {
    const now = tools.now();
    if (!(await mayIdentifyUsers(tx, environmentId, identifiedBy, now))) return undefined;
    const session = {
      id: tools.newId('psn'),
      tokenDigest: sessionDigest(tools.digester, 'url', mintToken(tools.random)),
      ...{ organizationId, userId, identifier, userVerifyUrl },
      returnUrl: null,
      language: null,
      apiClientId: identifiedBy,
      createdAt: now,
      expiresAt: now + PORTAL.urlMs,
    };
    await tx.portalSessions.insert(environmentId, session);
    const cause = { environmentId, actor: identifiedBy, requestId };
    await emitSession(tx, tools, 'portal_session.created', session, cause);
    return giveCookie(tx, tools, environmentId, session, requestId);
  });
}

/**
 * Binds a created session to a browser.
 *
 * @returns the secret for its cookie; undefined if the session was opened before, or its one-time URL has expired
 */
async function giveCookie(
  tx: Transaction,
  deps: SessionDeps,
  environmentId: EnvironmentId,
  session: PortalUser & { id: string; tokenDigest: Buffer },
  requestId: string,
): Promise<string | undefined> {
  const now = deps.now();
  const cookie = mintToken(deps.random);
  const next = { tokenDigest: sessionDigest(deps.digester, 'cookie', cookie), expiresAt: now + PORTAL.sessionMs };
  const from = { tokenDigest: session.tokenDigest, now };
  if (!(await tx.portalSessions.open(environmentId, from, next))) return undefined;
  await emitSession(tx, deps, 'portal_session.opened', session, sessionCause(session, environmentId, requestId));
  return cookie;
}

/**
 * Returns the open session of a browser's cookie. A session ends with the API client that created it, or with the login
 * provider that identified its user.
 */
export async function findSession(
  read: Pick<ReadRepositories, 'portalSessions' | 'apiClients' | 'loginProviders' | 'operatorSessions'>,
  { digester, now }: Pick<SessionDeps, 'digester' | 'now'>,
  environmentId: EnvironmentId,
  cookie: string | undefined,
): Promise<PortalSessionRow | undefined> {
  if (!isToken(cookie)) return undefined;
  const session = await read.portalSessions.byToken(environmentId, sessionDigest(digester, 'cookie', cookie));
  if (session?.state !== 'OPEN' || session.expiresAt <= now()) return undefined;
  return (await mayIdentifyUsers(read, environmentId, session.apiClientId, now())) ? session : undefined;
}

/** Returns the cause of changes that the user of a session makes: the session is the actor. */
export function sessionCause(
  { id }: Pick<PortalSessionRow, 'id'>,
  environmentId: EnvironmentId,
  requestId: string,
): Cause {
  return { environmentId, actor: id, requestId };
}

function emitSession(
  tx: Transaction,
  { events }: Pick<SessionDeps, 'events'>,
  type: 'portal_session.created' | 'portal_session.opened',
  { id, organizationId, userId, identifier }: PortalUser & { id: string },
  cause: Cause,
): Promise<void> {
  const user = { organization_id: organizationId || null, user_id: userId || null, identifier };
  return events.emit(tx, cause, { type, subject: id, details: { user }, data: () => ({ portal_session_id: id }) });
}
