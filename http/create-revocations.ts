import { createRevocationWorker, type RevocationWorkerTools } from '../core/accounts/revocation-worker.ts';
import { createDiscovery } from '../core/oauth/discovery.ts';
import type { Deps } from './deps.ts';

/** How soon a revocation is begun that nobody has announced: one ordered by a link that ran out, one whose time has come again. */
const POLL_MS = 2_000;
const SOON_MS = 50;

export type RevocationParts = Omit<RevocationWorkerTools, 'fetchFor' | 'discovery'> & Pick<Deps, 'egressOf'>;

/** Wires the worker that revokes at providers, and keeps it going. */
export function createRevocations(parts: RevocationParts): Deps['revocations'] & { stop(): Promise<void> } {
  const { egressOf, log } = parts;
  const worker = createRevocationWorker({
    ...parts,
    discovery: createDiscovery(parts.now),
    fetchFor: async (id, origins) => {
      const environment = await parts.store.read.environments.get(id);
      if (!environment) throw new Error(`the environment ${id} does not exist`);
      return egressOf(environment).pinnedFetch(origins);
    },
  });
  const quietly = () => void worker.run().catch((err) => log.error({ err }, 'revocations could not be read'));
  const timer = setInterval(quietly, POLL_MS).unref();
  let soon: NodeJS.Timeout | null = null;
  return {
    run: () => worker.run(),
    soon: () => {
      soon ??= setTimeout(() => {
        soon = null;
        quietly();
      }, SOON_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      if (soon) clearTimeout(soon);
      await worker.stop();
    },
  };
}
