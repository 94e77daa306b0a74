import { createRevocationWorker, type RevocationWorkerTools } from '../core/accounts/revocation-worker.ts';
import { BACKGROUND } from '../core/budgets.ts';
import { createDiscovery } from '../core/oauth/discovery.ts';
import type { Deps } from './deps.ts';
import { periodically } from './periodic.ts';
import { createPinnedFetch } from './pinned-fetch.ts';

/** How soon a revocation is begun that nobody has announced: one ordered by a link that ran out, one whose time has come again. */
const PERIOD = { everyMs: BACKGROUND.revocationsMs, soonMs: BACKGROUND.revocationsFirstMs };

export type RevocationParts = Omit<RevocationWorkerTools, 'fetchFor' | 'discovery'> & Pick<Deps, 'egressOf'>;

/** Wires the worker that revokes at providers, and keeps it going. */
export function createRevocations(parts: RevocationParts): Deps['revocations'] & { stop(): Promise<void> } {
  const worker = createRevocationWorker({
    ...parts,
    discovery: createDiscovery(parts.now),
    fetchFor: createPinnedFetch(parts),
  });
  const run = () => worker.run();
  const { soon, stop } = periodically(run, PERIOD, (err) => parts.log.error({ err }, 'revocations could not be read'));
  return {
    run,
    soon,
    async stop() {
      stop();
      await worker.stop();
    },
  };
}
