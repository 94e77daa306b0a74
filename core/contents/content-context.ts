import type { DataKeyContext } from '../vault/context.ts';

/** The generation counts the writes of a record. Stored contents are written only once. */
const GENERATION = 1;

/** Returns the context that the data key of stored contents is bound to. */
export function contentContext(environmentId: string, id: string): DataKeyContext {
  return { table: 'stored_contents', environmentId, recordId: id, generation: GENERATION };
}
