import type { DataKeyContext } from '../vault/context.ts';

/** Contents never change, so there is one generation of them. */
const GENERATION = 1;

/** Where the data key of stored contents belongs. */
export function contentPlace(environmentId: string, id: string): DataKeyContext {
  return { table: 'stored_contents', environmentId, recordId: id, generation: GENERATION };
}
