import { randomBytes } from 'node:crypto';
import type { CustomProviderDeps } from '../core/connections/custom.ts';
import { createIds } from '../core/ids.ts';
import { createJobQueue } from '../core/jobs/queue.ts';
import { checkAddress } from '../core/net/egress.ts';
import type { EnvironmentRow } from '../db/store.ts';
import { policyOf } from './egress-policy.ts';
import { type openStorage, openVault } from './open-storage.ts';
import { createOperatorEvents, readCatalogue } from './operator-events.ts';

/** Creates the dependencies for writing a provider without a server; nothing is sent. */
export function openImportTools(
  { config, secrets }: Awaited<ReturnType<typeof openStorage>>,
  environment: EnvironmentRow,
): CustomProviderDeps {
  const policy = policyOf(config, environment.kind);
  const newId = createIds(Date.now, randomBytes);
  const catalogue = readCatalogue();
  const { vault } = openVault(config, secrets);
  return {
    catalogue,
    vault,
    // A running server runs these jobs; otherwise the next server to start does.
    jobQueue: createJobQueue({ vault, now: Date.now, newId }),
    now: Date.now,
    newId,
    events: createOperatorEvents(newId, catalogue),
    checkAddress: (url) => {
      const verdict = checkAddress(policy, url);
      return verdict.ok ? null : verdict.reason;
    },
  };
}
