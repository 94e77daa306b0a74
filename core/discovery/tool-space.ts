import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import { ApiError } from '../errors.ts';

type ToolReads = Pick<ReadRepositories, 'environmentTools'>;

/** Returns how many more tools an environment can store. */
export async function toolSpace(read: ToolReads, environmentId: EnvironmentId): Promise<number> {
  return Math.max(0, STORED.tools - (await read.environmentTools.count(environmentId)));
}

/** @throws ApiError VALIDATION_FAILED if the environment cannot store this many more tools */
export async function requireToolSpace(read: ToolReads, environmentId: EnvironmentId, added: number): Promise<void> {
  if (added === 0 || added <= (await toolSpace(read, environmentId))) return;
  const detail = `The environment can have at most ${STORED.tools} tools. Delete tools that are not used.`;
  throw new ApiError('VALIDATION_FAILED', detail);
}
