import type { ScopeEntry } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';

/** The most that a scope lets an application do. */
export type ScopeAccess = 'read' | 'write' | 'delete';

const IDENTITY = new Set(['openid', 'profile', 'email', 'offline_access', 'address', 'phone']);
const READS = /(?:^|[^a-z])(?:read|readonly|view|list)(?![a-z]*write)(?:[^a-z]|$)/i;
const WRITES = /write|edit|create|update(?!s)|manage|send|modify/i;
const DELETES = /delete|admin|full/i;

/** The words with which descriptions of scopes indicate the access. */
const SAYS_READ = /^(?:read|see|list|view|show|find|search|get)\b/i;
const SAYS_WRITE =
  /\b(?:add|change|control|create|edit|make|manage|mark|modify|move|post|run|send|share|start|update|write)\b/i;
const SAYS_DELETE = /\b(?:delete|remove)\b/i;

/** A cache: the access of scopes by connector, as the tools indicate it. The catalogue never changes. */
const known = new WeakMap<Catalogue, Map<string, Map<string, ScopeAccess>>>();

/**
 * Returns the most that a scope lets an application do. For scopes of OpenID Connect, and for scopes whose name
 * indicates only reading, this is `read`. For others, the name, the description and the tools that need the scope can
 * each indicate an access, and the largest is returned. Tools that only read prove nothing, because a scope may allow
 * more than they use. If neither name nor description indicates an access, the scope counts as one that changes data,
 * so that users do not see less access than the scope gives.
 *
 * @param connector the identifier of a built-in connector; scopes of other providers are classified without tools
 */
export function scopeAccess(
  catalogue: Catalogue,
  connector: string,
  { scope, description = '' }: Pick<ScopeEntry, 'scope' | 'description'>,
): ScopeAccess {
  if (IDENTITY.has(scope)) return 'read';
  if (READS.test(scope) && !WRITES.test(scope) && !DELETES.test(scope)) return 'read';
  const byName = accessByName(scope);
  const byDescription = accessByDescription(description);
  const byTools = accessByTools(catalogue, connector).get(scope) ?? 'read';
  return [byDescription ?? byName ?? 'write', byName ?? 'read', byTools].reduce(larger);
}

function accessByDescription(text: string): ScopeAccess | undefined {
  if (SAYS_DELETE.test(text)) return 'delete';
  if (SAYS_WRITE.test(text)) return 'write';
  return SAYS_READ.test(text) ? 'read' : undefined;
}

function accessByName(scope: string): ScopeAccess | undefined {
  if (DELETES.test(scope)) return 'delete';
  return WRITES.test(scope) ? 'write' : undefined;
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
  // Only built-in connectors are cached. Clients choose the names of custom providers, so caching them could fill the
  // memory.
  if (access.size > 0) connectors.set(connector, access);
  return access;
}

const ORDER: readonly ScopeAccess[] = ['read', 'write', 'delete'];

function larger(a: ScopeAccess, b: ScopeAccess): ScopeAccess {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b;
}
