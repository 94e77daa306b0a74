import type { ConsentProtocol } from '../../authorization/module.ts';
import { moduleOf } from '../../authorization/registry.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { AuthorizationClient } from './authorization-client.ts';

/**
 * Combines several protocols into one client. The authorization type of a pattern selects the protocol. For a pattern
 * without user consent, `begin` and `finish` throw a TypeError.
 */
export function authorizationClients(clients: Record<ConsentProtocol, AuthorizationClient>): AuthorizationClient {
  const known = (pattern: AuthPattern | undefined): AuthorizationClient | undefined => {
    if (!pattern) return undefined;
    const { consent } = moduleOf(pattern.type);
    return consent?.isPossible(pattern) ? clients[consent.protocol] : undefined;
  };
  const of = (pattern: AuthPattern): AuthorizationClient => {
    const client = known(pattern);
    if (!client) throw new TypeError(`Accounts of type ${pattern.type} do not use user consent`);
    return client;
  };
  return {
    returnsByFragment: (pattern) => known(pattern)?.returnsByFragment(pattern) ?? false,
    begin: (plan) => of(plan.pattern).begin(plan),
    readState: (pattern, answer) => known(pattern)?.readState(pattern, answer),
    finish: (plan, kept, answer) => of(plan.pattern).finish(plan, kept, answer),
  };
}
