import type { EnvironmentId } from '../../../db/store.ts';
import type { EndTools } from './end-request.ts';
import { endRequest } from './end-request.ts';
import type { LinkTools } from './link-tools.ts';

/** How many requests are ended concurrently. */
const BATCH = 100;

const TOO_LATE = 'The link was not verified in time. Authorize the account again.';

export type ExpireTools = EndTools & Pick<LinkTools, 'store' | 'scrubStorage' | 'log'>;

/**
 * Ends every request that has expired: the grant is removed from this server and revoked at its provider (threat L20).
 * An expired request cannot be used even before this runs.
 */
export async function expireRequests(tools: ExpireTools, signal?: AbortSignal): Promise<void> {
  for (const { id } of await tools.store.read.environments.list()) {
    while (!signal?.aborted && (await expireBatch(tools, id)) > 0);
  }
}

/** @returns how many requests were ended; 0 means that another batch would not help */
async function expireBatch(tools: ExpireTools, environmentId: EnvironmentId): Promise<number> {
  const due = await tools.store.read.authRequests.due(environmentId, tools.now(), BATCH);
  // One unit of work each, so that one failure does not block the others.
  const ended = await Promise.all(due.map(({ id }) => expireOne(tools, environmentId, id)));
  if (due.length > 0) tools.scrubStorage();
  return ended.filter(Boolean).length;
}

async function expireOne(tools: ExpireTools, environmentId: EnvironmentId, id: string): Promise<boolean> {
  const cause = { environmentId, actor: 'system', requestId: '' };
  try {
    return await tools.store.write(async (tx) => {
      // Read again, because the request may have been verified since.
      const request = await tx.authRequests.get(environmentId, id);
      if (!request || request.expiresAt > tools.now()) return false;
      return endRequest(tx, tools, request, 'EXPIRED', TOO_LATE, cause);
    });
  } catch (err) {
    tools.log.error({ err, request: id }, 'a link could not be ended');
    return false;
  }
}
