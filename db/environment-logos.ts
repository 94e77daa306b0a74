import { eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { EnvironmentLogoRow } from './rows/environment-logos.ts';
import { environmentLogos } from './schema.ts';
import type { Statements } from './statements.ts';

export interface EnvironmentLogoReads {
  get(environmentId: EnvironmentId): Promise<EnvironmentLogoRow | undefined>;
}

export interface EnvironmentLogoWrites {
  /** Stores the logo of an environment in place of the previous one. */
  set(environmentId: EnvironmentId, logo: EnvironmentLogoRow): Promise<void>;
  /** @returns false if there is none */
  delete(environmentId: EnvironmentId): Promise<boolean>;
}

export type EnvironmentLogoRepository = EnvironmentLogoReads & EnvironmentLogoWrites;

const ofEnvironment = eq(environmentLogos.environmentId, sql.placeholder('environmentId'));

export function createEnvironmentLogoRepository({ db, once }: Statements): EnvironmentLogoRepository {
  const { mediaType, bytes, updatedAt } = environmentLogos;
  const get = once(() =>
    db.select({ mediaType, bytes, updatedAt }).from(environmentLogos).where(ofEnvironment).prepare(),
  );
  const remove = once(() => db.delete(environmentLogos).where(ofEnvironment).prepare());
  return {
    get: (environmentId) => get().get({ environmentId }),
    async set(environmentId, logo) {
      await remove().run({ environmentId });
      await db
        .insert(environmentLogos)
        .values({ ...logo, environmentId })
        .run();
    },
    async delete(environmentId) {
      return (await remove().run({ environmentId })).changes === 1;
    },
  };
}
