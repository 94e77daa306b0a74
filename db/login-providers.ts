import { type DataKeys, wrappedDataKeyIn } from './data-keys.ts';
import { eq, getTableColumns, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { LoginProviderRow, NewLoginProvider } from './rows/login-providers.ts';
import { loginProviders } from './schema.ts';
import type { Statements } from './statements.ts';

export interface LoginProviderReads {
  /** Returns the login provider of an environment, which has at most one. */
  get(environmentId: EnvironmentId): Promise<LoginProviderRow | undefined>;
}

export interface LoginProviderWrites {
  /** Stores the login provider of an environment in place of the current one. */
  replace(environmentId: EnvironmentId, provider: NewLoginProvider): Promise<void>;
  /** @returns false when there is none */
  delete(environmentId: EnvironmentId): Promise<boolean>;
}

export type LoginProviderRepository = LoginProviderReads & LoginProviderWrites;

const t = loginProviders;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));

export function createLoginProviderRepository({ db, once }: Statements, dataKeys: DataKeys): LoginProviderRepository {
  const get = once(() => {
    const { dataKey, ...columns } = getTableColumns(t);
    return db
      .select({ ...columns, wrappedDataKey: wrappedDataKeyIn(dataKey) })
      .from(t)
      .where(withinEnvironment)
      .prepare();
  });
  const remove = once(() => db.delete(t).where(withinEnvironment).prepare());

  return {
    get: (environmentId) => get().get({ environmentId }),
    async replace(environmentId, { wrappedDataKey, ...provider }) {
      await remove().run({ environmentId });
      const dataKey = wrappedDataKey && (await dataKeys.add(wrappedDataKey));
      await db
        .insert(t)
        .values({ ...provider, environmentId, dataKey })
        .run();
    },
    async delete(environmentId) {
      return (await remove().run({ environmentId })).changes === 1;
    },
  };
}
