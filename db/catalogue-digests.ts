import { conflictOf } from './columns.ts';
import { eq } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { catalogueDigests } from './schema.ts';
import type { Statements } from './statements.ts';

export interface CatalogueDigestReads {
  /** Returns the digests by connector; undefined for an environment that has none yet. */
  get(environmentId: EnvironmentId): Promise<Record<string, string> | undefined>;
}

export interface CatalogueDigestWrites {
  set(environmentId: EnvironmentId, digests: Record<string, string>): Promise<void>;
}

export type CatalogueDigestRepository = CatalogueDigestReads & CatalogueDigestWrites;

/** Statements are not prepared in advance, because they are only used at start. */
export function createCatalogueDigestRepository({ db }: Statements): CatalogueDigestRepository {
  return {
    async get(environmentId) {
      const its = eq(catalogueDigests.environmentId, environmentId);
      return (await db.select().from(catalogueDigests).where(its).get())?.digests;
    },
    async set(environmentId, digests) {
      const row = { environmentId, digests };
      const replaced = { target: conflictOf(catalogueDigests.environmentId), set: { digests } };
      await db.insert(catalogueDigests).values(row).onConflictDoUpdate(replaced).run();
    },
  };
}
