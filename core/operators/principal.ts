import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { actorOf, isOpen } from './sessions.ts';

/** The state that a request with an access token is checked against. */
export interface PrincipalState {
  enabled: boolean;
  /** Tokens of an older generation are rejected. */
  generation: number;
  /** The name in the audit log and in the records of executions. */
  actor: string;
}

/** The generation of every session. It never changes, because all tokens of a session end together with the session. */
export const SESSION_GENERATION = 1;
const SESSION_ID = /^ops_/;

/**
 * Returns the state of the holder of access tokens: an API client, or a session of an operator. A session that was not
 * opened yet or has expired is not enabled.
 *
 * @param now milliseconds UTC
 * @returns undefined for an unknown client or session; ended sessions are deleted, so they are unknown too
 */
export function principalState(
  read: Pick<ReadRepositories, 'apiClients' | 'operatorSessions'>,
  environmentId: EnvironmentId,
  id: string,
  now: number,
): Promise<PrincipalState | undefined> {
  // Without `await`, which would create two more promises for every request.
  if (!SESSION_ID.test(id)) {
    return read.apiClients
      .state(environmentId, id)
      .then((client) => client && { enabled: client.enabled, generation: client.generation, actor: id });
  }
  return read.operatorSessions
    .get(environmentId, id)
    .then(
      (session) =>
        session && { enabled: isOpen(session, now), generation: SESSION_GENERATION, actor: actorOf(session) },
    );
}
