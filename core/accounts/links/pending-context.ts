import type { DataKeyContext } from '../../vault/context.ts';

/** A grant is encrypted once for each request, so the generation never changes. */
const GENERATION = 1;

/** Returns the context that the data key of an unverified grant is bound to. */
export function pendingGrantContext(environmentId: string, requestId: string): DataKeyContext {
  return { table: 'auth_requests', environmentId, recordId: requestId, generation: GENERATION };
}
