import { AUDIT_HEAD, type EnvironmentId, type Store } from '../../db/store.ts';
import type { Events } from '../events/events.ts';

/**
 * Publishes the sequence number and hash of the last entry of each chain of the audit log (entries linked by their
 * hashes), as one event per environment. A receiver that stores these events can later detect that earlier entries were
 * removed or changed. An environment whose last entry is such an event is skipped, because no entry was added since.
 */
export async function publishHeads(
  { store, events }: { store: Pick<Store, 'read' | 'write'>; events: Events },
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of await store.read.environments.list()) {
    if (signal.aborted) return;
    const [last] = (await store.read.audit.list(id, { size: 1 })).rows;
    if (last !== undefined && last.action !== AUDIT_HEAD) await publish(id);
  }

  function publish(environmentId: EnvironmentId): Promise<void> {
    return store.write(async (tx) => {
      const chains = await tx.audit.chains(environmentId);
      const heads = chains.flatMap(({ head }) => (head ? [{ seq: head.seq, hash: head.hash.toString('hex') }] : []));
      await events.emit(
        tx,
        { environmentId, actor: 'system', requestId: '' },
        {
          type: AUDIT_HEAD,
          subject: environmentId,
          details: { heads },
          data: async (show) => ({ environment: await show.environment() }),
        },
      );
    });
  }
}
