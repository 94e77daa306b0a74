import type { AccountRow, EnvironmentRow } from '../../../db/store.ts';
import type { Cause } from '../../events/events.ts';
import { createScrubber, type Scrubber } from '../../net/redact.ts';
import { listUpstreamTools } from './list.ts';
import type { ListedPage } from './results.ts';
import { failedAt, type UpstreamFailed, type UseAccountDeps, withUpstreamAccount } from './use-account.ts';

/**
 * Reads the tools of an MCP server with an account.
 *
 * @param take receives each page, and the scrubber that removes the credential from everything derived from the page
 * @param signal stops the reading
 * @returns the failure if a page could not be read; earlier pages were passed to `take` by then
 * @throws ApiError ACCOUNT_NOT_ACTIVE; and the errors of `take`
 */
export function readUpstreamTools(
  deps: UseAccountDeps,
  environment: EnvironmentRow,
  account: AccountRow,
  cause: Cause,
  take: (page: ListedPage, scrub: Scrubber) => Promise<void>,
  signal: AbortSignal,
): Promise<{ ok: true } | UpstreamFailed> {
  return withUpstreamAccount(deps, environment, account, cause, async (place) => {
    const pages = listUpstreamTools(deps.upstreamSessions, place, signal);
    for (;;) {
      const next = await pages.next().catch((error) => failedAt(place, error, deps.now()));
      if ('error' in next) return next;
      if (next.done) return { ok: true as const };
      await take(next.value, createScrubber(place.secrets));
    }
  });
}
