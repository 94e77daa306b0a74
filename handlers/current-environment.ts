import type { EnvironmentId, EnvironmentRow, ReadRepositories } from '../db/store.ts';

/**
 * Returns the environment as it is stored now. The request's own environment is cached for some seconds, so its
 * settings may be outdated.
 */
export async function currentEnvironment(read: ReadRepositories, id: EnvironmentId): Promise<EnvironmentRow> {
  return (await read.environments.get(id)) as EnvironmentRow;
}
