import type { DataKeyContext } from '../vault/context.ts';

/** Stored contents never change, so the generation never changes either. */
const GENERATION = 1;

/** Returns the context that the data key of stored contents is bound to. */
export function contentContext(environmentId: string, id: string): DataKeyContext {
  return { table: 'stored_contents', environmentId, recordId: id, generation: GENERATION };
}
