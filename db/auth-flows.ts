import { deleteOldest } from './delete-oldest.ts';
import { and, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuthFlowRow, NewAuthFlow } from './rows/auth-flows.ts';
import { authFlows } from './schema.ts';
import type { Statements } from './statements.ts';

export interface AuthFlowReads {
  byState(environmentId: EnvironmentId, stateDigest: Buffer): Promise<AuthFlowRow | undefined>;
}

export interface AuthFlowWrites {
  insert(environmentId: EnvironmentId, flow: NewAuthFlow): Promise<void>;
  /** Marks a flow as used and deletes its stored data. @returns false if it was already used or has expired */
  spend(environmentId: EnvironmentId, stateDigest: Buffer, at: number): Promise<boolean>;
  /** Deletes some of the expired flows, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limit: number): Promise<number>;
}

export type AuthFlowRepository = AuthFlowReads & AuthFlowWrites;

const t = authFlows;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneFlow = and(eq(t.stateDigest, sql.placeholder('stateDigest')), withinEnvironment) as SQL;

export function createAuthFlowRepository({ db, once }: Statements): AuthFlowRepository {
  const byState = once(() => db.select().from(t).where(oneFlow).prepare());
  const spend = once(() =>
    db
      .update(t)
      .set({ spentAt: sql`${sql.placeholder('at')}`, keptSealed: null })
      .where(and(oneFlow, sql`${t.spentAt} is null and ${t.expiresAt} > ${sql.placeholder('at')}`))
      .prepare(),
  );
  const sweep = once(() =>
    deleteOldest(db, t, t.stateDigest, and(withinEnvironment, lte(t.expiresAt, sql.placeholder('now'))), t.expiresAt),
  );

  return {
    byState: (environmentId, stateDigest) => byState().get({ environmentId, stateDigest }),
    async insert(environmentId, flow) {
      await db
        .insert(t)
        .values({ ...flow, environmentId })
        .run();
    },
    async spend(environmentId, stateDigest, at) {
      return (await spend().run({ environmentId, stateDigest, at })).changes === 1;
    },
    async sweep(environmentId, now, limit) {
      return (await sweep().run({ environmentId, now, limit })).changes;
    },
  };
}
