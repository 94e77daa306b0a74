import type { EnvironmentId, EnvironmentRow, ReadRepositories } from '../db/store.ts';

/** The environment as it is now. What the pipeline found by the host name may be some seconds old, and settings change. */
export async function currentEnvironment(read: ReadRepositories, id: EnvironmentId): Promise<EnvironmentRow> {
  return (await read.environments.get(id)) as EnvironmentRow;
}
