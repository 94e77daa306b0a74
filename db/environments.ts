import { eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { EnvironmentRow, EnvironmentSettings } from './rows/environments.ts';
import { environmentHosts, environments } from './schema.ts';
import type { Statements } from './statements.ts';

export interface EnvironmentReads {
  byHost(host: string): Promise<EnvironmentRow | undefined>;
  get(id: EnvironmentId): Promise<EnvironmentRow | undefined>;
  list(): Promise<EnvironmentRow[]>;
}

export interface EnvironmentWrites {
  /** @throws UniqueError `environment_hosts_host` if another environment has one of the hosts */
  insert(environment: EnvironmentRow): Promise<void>;
  /** @returns false if there is no such environment */
  setSettings(id: EnvironmentId, settings: EnvironmentSettings): Promise<boolean>;
  /**
   * Changes the base URL of an environment and adds its host to the environment's hosts.
   *
   * @throws UniqueError `environment_hosts_host` if another environment has the host
   */
  setBaseUrl(id: EnvironmentId, baseUrl: string): Promise<void>;
}

export type EnvironmentRepository = EnvironmentReads & EnvironmentWrites;

export function createEnvironmentRepository({ db, once, dialect }: Statements): EnvironmentRepository {
  const id = sql.placeholder('id');
  const columns = {
    id: environments.id,
    kind: environments.kind,
    baseUrl: environments.baseUrl,
    settings: environments.settings,
    createdAt: environments.createdAt,
    hosts: sql<string>`(select ${dialect.jsonArrayOf(sql.identifier('host'))} from environment_hosts
      where environment_hosts.environment_id = environments.id)`.mapWith(
      (hosts: string) => JSON.parse(hosts) as string[],
    ),
  };
  const get = once(() => db.select(columns).from(environments).where(eq(environments.id, id)).prepare());
  const list = once(() => db.select(columns).from(environments).orderBy(environments.ordinal).prepare());
  const byHost = once(() =>
    db
      .select(columns)
      .from(environments)
      .where(
        sql`${environments.id} = (select ${environmentHosts.environmentId} from ${environmentHosts}
          where ${environmentHosts.host} = ${sql.placeholder('host')})`,
      )
      .prepare(),
  );

  return {
    byHost: (host) => byHost().get({ host }),
    get: (environmentId) => get().get({ id: environmentId }),
    list: () => list().all(),
    async insert({ hosts, ...environment }) {
      const ordinal = sql`(select coalesce(max(ordinal), 0) + 1 from ${environments})`;
      await db
        .insert(environments)
        .values({ ...environment, ordinal })
        .run();
      for (const host of hosts) await db.insert(environmentHosts).values({ host, environmentId: environment.id }).run();
    },
    async setSettings(environmentId, settings) {
      return (
        (await db.update(environments).set({ settings }).where(eq(environments.id, environmentId)).run()).changes === 1
      );
    },
    async setBaseUrl(environmentId, baseUrl) {
      const host = new URL(baseUrl).hostname;
      await db.update(environments).set({ baseUrl }).where(eq(environments.id, environmentId)).run();
      const known = await byHost().get({ host });
      if (known?.id !== environmentId) await db.insert(environmentHosts).values({ host, environmentId }).run();
    },
  };
}
