import type { EnvironmentId, OperatorRole, OperatorSessionRow, ReadRepositories, Transaction } from '../../db/store.ts';
import { isToken, mintToken } from '../accounts/links/tokens.ts';
import { OPERATORS } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import type { Cause, Events } from '../events/events.ts';
import type { Digester } from '../vault/digest.ts';

export interface OperatorDeps {
  digester: Pick<Digester, 'digest'>;
  events: Events;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  newId(prefix: 'ops'): string;
}

type Reads = Pick<ReadRepositories, 'operatorSessions'>;

/** The kind is part of the digest, so that the token of an address cannot be used as a cookie. */
function digestOf({ digester }: Pick<OperatorDeps, 'digester'>, kind: 'address' | 'cookie', token: string): Buffer {
  return digester.digest(`operator session: ${kind}`, token);
}

/** Returns the name of an operator in the audit log and in the records of executions. */
export function actorOf({ operator }: Pick<OperatorSessionRow, 'operator'>): string {
  return `operator:${operator}`;
}

/**
 * Creates a session that waits for its operator, who opens it with a one-time address.
 *
 * @returns the session, and the token of its address
 * @throws ApiError TOO_MANY_SESSIONS
 */
export async function offerSession(
  tx: Transaction,
  deps: OperatorDeps,
  cause: Cause,
  { operator, role }: { operator: string; role: OperatorRole },
): Promise<{ session: OperatorSessionRow; token: string }> {
  const { environmentId } = cause;
  const now = deps.now();
  const live = await tx.operatorSessions.countLive(environmentId, now, OPERATORS.sessions);
  if (live >= OPERATORS.sessions)
    throw new ApiError(
      'TOO_MANY_SESSIONS',
      `The environment has ${OPERATORS.sessions} operator sessions, the maximum. End some first.`,
    );
  const token = mintToken(deps.random);
  const session: OperatorSessionRow = {
    id: deps.newId('ops'),
    environmentId,
    state: 'OFFERED',
    operator,
    role,
    tokenDigest: digestOf(deps, 'address', token),
    createdAt: now,
    usedAt: null,
    expiresAt: now + OPERATORS.addressMs,
  };
  const { environmentId: _, ...row } = session;
  await tx.operatorSessions.insert(environmentId, row);
  await emit(tx, deps, cause, 'operator_session.created', session);
  return { session, token };
}

/**
 * Opens a session with the token from the one-time address that the operator received. The token cannot be used again.
 * The browser gets a new secret, so a cookie that an attacker set in this browser earlier is not valid for the session
 * (session fixation).
 *
 * @returns the session, and the secret for the cookie; undefined if the token is unknown, used or expired
 */
export async function openSession(
  tx: Transaction,
  deps: Omit<OperatorDeps, 'newId'>,
  { environmentId, requestId }: { environmentId: EnvironmentId; requestId: string },
  token: unknown,
): Promise<{ session: OperatorSessionRow; cookie: string } | undefined> {
  if (typeof token !== 'string' || !isToken(token)) return undefined;
  const now = deps.now();
  const offered = await tx.operatorSessions.byToken(environmentId, digestOf(deps, 'address', token));
  if (!offered) return undefined;
  const cookie = mintToken(deps.random);
  const opened = { tokenDigest: digestOf(deps, 'cookie', cookie), expiresAt: now + OPERATORS.sessionMs };
  if (!(await tx.operatorSessions.open(environmentId, { ...offered, now }, opened))) return undefined;
  const session: OperatorSessionRow = { ...offered, ...opened, state: 'OPEN', usedAt: now };
  await emit(tx, deps, { environmentId, actor: actorOf(session), requestId }, 'operator_session.opened', session);
  return { session, cookie };
}

/** Finds the open session of a cookie; undefined if there is none or it has expired. */
export async function sessionOfCookie(
  read: Reads,
  deps: Pick<OperatorDeps, 'digester' | 'now'>,
  environmentId: EnvironmentId,
  cookie: string | undefined,
): Promise<OperatorSessionRow | undefined> {
  if (!isToken(cookie)) return undefined;
  const session = await read.operatorSessions.byToken(environmentId, digestOf(deps, 'cookie', cookie));
  return session && isOpen(session, deps.now()) ? session : undefined;
}

/** Whether a session may be used. @param now milliseconds UTC */
export function isOpen({ state, expiresAt }: OperatorSessionRow, now: number): boolean {
  return state === 'OPEN' && expiresAt > now;
}

/**
 * Ends a session. If it was not opened yet, its one-time address can no longer open it.
 *
 * @returns the session before it ended; undefined if there is none
 */
export async function endSession(
  tx: Transaction,
  deps: Pick<OperatorDeps, 'events'>,
  cause: Cause,
  id: string,
): Promise<OperatorSessionRow | undefined> {
  const session = await tx.operatorSessions.get(cause.environmentId, id);
  if (!session || !(await tx.operatorSessions.delete(cause.environmentId, id))) return undefined;
  await emit(tx, deps, cause, 'operator_session.ended', session);
  return session;
}

function emit(
  tx: Transaction,
  { events }: Pick<OperatorDeps, 'events'>,
  cause: Cause,
  type: 'operator_session.created' | 'operator_session.opened' | 'operator_session.ended',
  session: OperatorSessionRow,
): Promise<void> {
  const { id, operator, role } = session;
  return events.emit(tx, cause, {
    type,
    subject: id,
    auditOnly: { operator, role },
    data: (show) => ({ operator_session: show.operatorSession(session) }),
  });
}
