import { conflictOf } from './columns.ts';
import { eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { environmentToolRevisions } from './schema.ts';
import type { Statements } from './statements.ts';

/** The revision of the tools of each environment: a number that increases with every change. */
export interface ToolRevisions {
  /** Returns 0 before the first change. */
  current(environmentId: EnvironmentId): Promise<number>;
  /**
   * Changes tools under the next revision. The row of the revision is locked first, so that two transactions cannot use
   * the same revision. If they could, a reader that has read this revision after the first commit would never read the
   * rows of the second one.
   *
   * @param write receives the revision, and returns how many rows it has changed; if none, the revision is not stored
   * @returns how many rows were changed
   */
  change(environmentId: EnvironmentId, write: (revision: number) => Promise<number>): Promise<number>;
  /** As `change`, but if the environment has never had a tool, it returns 0 without calling `write`. */
  changeExisting(environmentId: EnvironmentId, write: (revision: number) => Promise<number>): Promise<number>;
}

const revisions = environmentToolRevisions;
const ENVIRONMENT = sql.placeholder('environmentId');
const ofEnvironment = eq(revisions.environmentId, ENVIRONMENT);

export function createToolRevisions({ db, once }: Statements): ToolRevisions {
  const revision = once(() =>
    db.select({ revision: revisions.revision }).from(revisions).where(ofEnvironment).prepare(),
  );
  // An update that changes nothing, because only a write locks the row in every engine.
  const lock = once(() =>
    db
      .update(revisions)
      .set({ revision: sql`${revisions.revision}` })
      .where(ofEnvironment)
      .returning({ revision: revisions.revision })
      .prepare(),
  );
  const addOrLock = once(() =>
    db
      .insert(revisions)
      .values({ environmentId: ENVIRONMENT as never, revision: 0 })
      .onConflictDoUpdate({
        target: conflictOf(revisions.environmentId),
        set: { revision: sql`${revisions.revision}` },
      })
      .returning({ revision: revisions.revision })
      .prepare(),
  );
  const setRevision = once(() =>
    db
      .update(revisions)
      .set({ revision: sql`${sql.placeholder('revision')}` })
      .where(ofEnvironment)
      .prepare(),
  );

  async function writeNext(
    environmentId: EnvironmentId,
    locked: { revision: number },
    write: (revision: number) => Promise<number>,
  ): Promise<number> {
    const next = locked.revision + 1;
    const written = await write(next);
    if (written > 0) await setRevision().run({ environmentId, revision: next });
    return written;
  }

  return {
    async current(environmentId) {
      return (await revision().get({ environmentId }))?.revision ?? 0;
    },
    async change(environmentId, write) {
      const locked = (await addOrLock().get({ environmentId })) as { revision: number };
      return await writeNext(environmentId, locked, write);
    },
    async changeExisting(environmentId, write) {
      const locked = await lock().get({ environmentId });
      // An environment without a revision has never had a tool.
      return locked ? await writeNext(environmentId, locked, write) : 0;
    },
  };
}
