import type { DataKeyContext } from '../../vault/context.ts';

/** What was granted is sealed once for each request, so there is one generation of it. */
const GENERATION = 1;

/** Where the data key of what waits to be verified belongs. */
export function pendingPlace(environmentId: string, requestId: string): DataKeyContext {
  return { table: 'auth_requests', environmentId, recordId: requestId, generation: GENERATION };
}
