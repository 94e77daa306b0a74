import type { AnyColumn, SQL } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { Scope } from './keyset.ts';

/**
 * Returns the scope of a list whose order mixes rows of several environments, so that every statement needs the
 * condition on the environment.
 */
export function everywhere(scope: SQL): Scope {
  return { all: scope, older: scope, newer: scope, between: scope };
}

/**
 * The parts of a `KeysetSource` for a list that is ordered by the ids of its rows. Ids are in the order of creation, so
 * an id has a position even after its row was deleted.
 *
 * @param scope the condition that limits the list to its environment
 */
export function orderedById(id: AnyColumn, scope: SQL) {
  return {
    order: id,
    scope: everywhere(scope),
    placeOf: (row: { id: string }) => row.id,
    placeOfCursor: async (_environmentId: EnvironmentId, cursor: string) => cursor,
  };
}
