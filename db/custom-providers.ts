import { and, count, desc, eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { CustomProviderRow, NewCustomProvider } from './rows/custom-providers.ts';
import { customProviders } from './schema.ts';
import type { Statements } from './statements.ts';

export interface CustomProviderReads {
  get(environmentId: EnvironmentId, identifier: string): Promise<CustomProviderRow | undefined>;
  /** Returns all providers of an environment, newest first. */
  list(environmentId: EnvironmentId): Promise<CustomProviderRow[]>;
  /** Returns how many there are, and the size of their definitions as JSON, in characters. */
  totals(environmentId: EnvironmentId): Promise<{ count: number; size: number }>;
}

export interface CustomProviderWrites {
  /** @throws UniqueError `custom_providers_identifier` */
  insert(environmentId: EnvironmentId, provider: NewCustomProvider): Promise<void>;
  /** Updates a provider if it still has this version. @returns false if its version has changed or it was deleted */
  update(
    environmentId: EnvironmentId,
    identifier: string,
    version: number,
    changes: { definition: object; isMcp: boolean; updatedAt: number },
  ): Promise<boolean>;
  /** @returns false if there is none */
  delete(environmentId: EnvironmentId, identifier: string): Promise<boolean>;
}

export type CustomProviderRepository = CustomProviderReads & CustomProviderWrites;

const withinEnvironment = eq(customProviders.environmentId, sql.placeholder('environmentId'));
const oneProvider = and(withinEnvironment, eq(customProviders.identifier, sql.placeholder('identifier')));
const columns = {
  id: customProviders.id,
  identifier: customProviders.identifier,
  definition: customProviders.definition,
  isMcp: customProviders.isMcp,
  version: customProviders.version,
  createdAt: customProviders.createdAt,
  updatedAt: customProviders.updatedAt,
};

export function createCustomProviderRepository({ db, once }: Statements): CustomProviderRepository {
  const get = once(() => db.select(columns).from(customProviders).where(oneProvider).prepare());
  const list = once(() =>
    db.select(columns).from(customProviders).where(withinEnvironment).orderBy(desc(customProviders.id)).prepare(),
  );
  const totals = once(() =>
    db
      .select({ count: count(), size: sql<number>`coalesce(sum(length(${customProviders.definition})), 0)` })
      .from(customProviders)
      .where(withinEnvironment)
      .prepare(),
  );
  const update = once(() =>
    db
      .update(customProviders)
      .set({
        definition: sql`${sql.placeholder('definition')}`,
        isMcp: sql`${sql.placeholder('isMcp')}`,
        updatedAt: sql`${sql.placeholder('updatedAt')}`,
        version: sql`${customProviders.version} + 1`,
      })
      .where(and(oneProvider, eq(customProviders.version, sql.placeholder('version'))))
      .prepare(),
  );
  const remove = once(() => db.delete(customProviders).where(oneProvider).prepare());

  return {
    get: (environmentId, identifier) => get().get({ environmentId, identifier }),
    list: (environmentId) => list().all({ environmentId }),
    async totals(environmentId) {
      const row = await totals().get({ environmentId });
      return { count: Number(row?.count ?? 0), size: Number(row?.size ?? 0) };
    },
    async insert(environmentId, { definition, ...provider }) {
      const row = { ...provider, definition: { ...definition }, environmentId, version: 1 };
      await db.insert(customProviders).values(row).run();
    },
    async update(environmentId, identifier, version, { definition, isMcp, updatedAt }) {
      const values = { environmentId, identifier, version, isMcp: Number(isMcp), updatedAt };
      return (await update().run({ ...values, definition: JSON.stringify(definition) })).changes === 1;
    },
    async delete(environmentId, identifier) {
      return (await remove().run({ environmentId, identifier })).changes === 1;
    },
  };
}
