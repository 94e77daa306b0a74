import type { DataKeyContext, ValueContext } from '../../vault/context.ts';

/** What was granted is sealed once for each request, so there is one generation of it. */
const GENERATION = 1;

/** Where the data key of what waits to be verified belongs. */
export function pendingPlace(environmentId: string, requestId: string): DataKeyContext {
  return { table: 'auth_requests', environmentId, recordId: requestId, generation: GENERATION };
}

/** Where the payload of something that has to be done outside belongs. */
export function outboxPlace(environmentId: string, entryId: string): ValueContext {
  return { table: 'outbox', environmentId, recordId: entryId, field: 'payload' };
}
