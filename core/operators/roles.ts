import type { OperatorRole } from '../../db/store.ts';
import type { Scope } from '../tokens/scopes.ts';

const READS: readonly Scope[] = [
  'accounts:read',
  'connections:read',
  'providers:read',
  'tools:read',
  'jobs:read',
  'events:read',
];
const WRITES: readonly Scope[] = [
  'accounts:write',
  'connections:write',
  'providers:write',
  'tools:execute',
  'tools:write',
  'jobs:write',
  'events:write',
];

/** No role has `credentials:read` or `proxy` (calls to any address of a provider): the console shows no credential. */
const SCOPES_OF: Record<OperatorRole, readonly Scope[]> = {
  VIEWER: READS,
  EDITOR: [...READS, ...WRITES],
  OWNER: [...READS, ...WRITES, 'admin'],
};

/** Returns the scopes of the access tokens of an operator. */
export function scopesOf(role: OperatorRole): readonly Scope[] {
  return SCOPES_OF[role];
}
