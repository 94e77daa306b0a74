import type { Catalogue } from '../connectors/catalogue.ts';

/** The most that a scope lets an application do. */
export type ScopeAccess = 'read' | 'write' | 'delete';

const IDENTITY = new Set(['openid', 'profile', 'email', 'offline_access', 'address', 'phone']);
const READS = /(?:^|[^a-z])(?:read|readonly|view|list)(?![a-z]*write)(?:[^a-z]|$)/i;
const WRITES = /write|edit|create|update|manage|send|modify/i;
const DELETES = /delete|admin|full/i;

/** The access of scopes by connector; the catalogue never changes. */
const known = new WeakMap<Catalogue, Map<string, Map<string, ScopeAccess>>>();

/**
 * Returns what a scope lets an application do at most: what the tools that need it do, otherwise what its name says. A
 * scope whose name says nothing about this counts as one that changes data, because users must not be told less than
 * the truth.
 *
 * @param connector the identifier of a built-in connector; scopes of other providers are judged by their names
 */
export function scopeAccess(catalogue: Catalogue, connector: string, scope: string): ScopeAccess {
  if (IDENTITY.has(scope)) return 'read';
  if (READS.test(scope) && !WRITES.test(scope) && !DELETES.test(scope)) return 'read';
  return accessByTools(catalogue, connector).get(scope) ?? accessByName(scope);
}

function accessByName(scope: string): ScopeAccess {
  return DELETES.test(scope) ? 'delete' : 'write';
}

function accessByTools(catalogue: Catalogue, connector: string): Map<string, ScopeAccess> {
  const connectors = known.get(catalogue) ?? new Map<string, Map<string, ScopeAccess>>();
  known.set(catalogue, connectors);
  const found = connectors.get(connector);
  if (found) return found;
  const access = new Map<string, ScopeAccess>();
  for (const name of catalogue.toolNames(connector)) {
    const { scopes = [], hints } = catalogue.peek(name) ?? {};
    if (!hints) continue;
    const most: ScopeAccess = hints.destructive ? 'delete' : hints.read_only ? 'read' : 'write';
    for (const scope of scopes.flat()) access.set(scope, larger(access.get(scope) ?? 'read', most));
  }
  // Custom providers are not in the catalogue, and their names are chosen by clients.
  if (access.size > 0) connectors.set(connector, access);
  return access;
}

const ORDER: readonly ScopeAccess[] = ['read', 'write', 'delete'];

function larger(a: ScopeAccess, b: ScopeAccess): ScopeAccess {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b;
}
