import type { EnvironmentId } from '../../../db/store.ts';
import type { EndDeps } from './end-request.ts';
import { endRequest } from './end-request.ts';
import type { LinkDeps } from './link-deps.ts';

/** The maximum number of requests that are ended concurrently. */
const BATCH = 100;

const TOO_LATE = 'The link was not verified in time. Authorize the account again.';

export type ExpireDeps = EndDeps & Pick<LinkDeps, 'store' | 'scrubStorage' | 'log'>;

/**
 * Ends every link request that has expired. A grant that still waits for verification is removed from this server and
 * revoked at its provider, unless an active account may share it (threat L20). An expired request cannot be used even
 * before this runs.
 */
export async function expireRequests(deps: ExpireDeps, signal?: AbortSignal): Promise<void> {
  for (const { id } of await deps.store.read.environments.list()) {
    while (!signal?.aborted && (await expireBatch(deps, id)) > 0);
  }
}

/** @returns how many requests were ended; 0 means that another batch would not help */
async function expireBatch(deps: ExpireDeps, environmentId: EnvironmentId): Promise<number> {
  const due = await deps.store.read.authRequests.due(environmentId, deps.now(), BATCH);
  // One unit of work each, so that one failure does not block the others.
  const ended = await Promise.all(due.map(({ id }) => expireOne(deps, environmentId, id)));
  if (due.length > 0) deps.scrubStorage();
  return ended.filter(Boolean).length;
}

async function expireOne(deps: ExpireDeps, environmentId: EnvironmentId, id: string): Promise<boolean> {
  const cause = { environmentId, actor: 'system', requestId: '' };
  try {
    return await deps.store.write(async (tx) => {
      // Read again, because the request may have been verified since.
      const request = await tx.authRequests.get(environmentId, id);
      if (!request || request.expiresAt > deps.now()) return false;
      return endRequest(tx, deps, request, 'EXPIRED', TOO_LATE, cause);
    });
  } catch (err) {
    deps.log.error({ err, request: id }, 'an expired link could not be ended; the next run tries again');
    return false;
  }
}
