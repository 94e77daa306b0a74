import type { DataKeys } from '../data-keys.ts';
import { and, eq, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountChanges } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Changes, Statements } from '../statements.ts';

export const nextVersion = sql`${accounts.version} + 1`;

/** Updates an account by id and version, with one prepared statement for each set of columns. */
export function createUpdate({ db, oncePerShape }: Statements, dataKeys: DataKeys) {
  const statements = oncePerShape<{ run(values: Record<string, unknown>): Promise<Changes> }>();
  return async (
    environmentId: EnvironmentId,
    id: string,
    version: number,
    { wrappedDataKey, ...rest }: AccountChanges,
  ): Promise<boolean> => {
    const dataKey = wrappedDataKey && (await dataKeys.add(wrappedDataKey));
    const changes: Record<string, unknown> = { ...rest, dataKey };
    const names = Object.keys(changes).filter((name) => changes[name] !== undefined);
    const statement = statements(names.join(), () => {
      const set = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
      return db
        .update(accounts)
        .set({ ...set, version: nextVersion })
        .where(
          and(
            eq(accounts.id, sql.placeholder('id')),
            eq(accounts.environmentId, sql.placeholder('environmentId')),
            sql`${accounts.version} = ${sql.placeholder('expectedVersion')}`,
          ),
        )
        .prepare();
    });
    const isChanged = (await statement.run({ ...changes, environmentId, id, expectedVersion: version })).changes === 1;
    if (!isChanged && dataKey) await dataKeys.wipe(dataKey);
    return isChanged;
  };
}
