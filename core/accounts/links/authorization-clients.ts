import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { AuthorizationClient } from './authorization-client.ts';

/** Several protocols as one: each pattern is for the first that supports it. */
export function authorizationClients(clients: readonly AuthorizationClient[]): AuthorizationClient {
  const of = (pattern: AuthPattern): AuthorizationClient => {
    const client = clients.find((candidate) => candidate.supports(pattern));
    if (!client) throw new TypeError(`Accounts of type ${pattern.type} are not authorized by a person`);
    return client;
  };
  const known = (pattern: AuthPattern | undefined) => clients.find((client) => pattern && client.supports(pattern));
  return {
    supports: (pattern) => clients.some((client) => client.supports(pattern)),
    returnsByFragment: (pattern) => known(pattern)?.returnsByFragment(pattern) ?? false,
    begin: (plan) => of(plan.pattern).begin(plan),
    readState: (pattern, answer) => known(pattern)?.readState(pattern, answer),
    finish: (plan, kept, answer) => of(plan.pattern).finish(plan, kept, answer),
  };
}
