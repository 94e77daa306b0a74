import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CustomProviderTools } from '../core/connections/custom.ts';
import { createCatalogue } from '../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import { createEvents, type Events } from '../core/events/events.ts';
import { createIds } from '../core/ids.ts';
import { checkAddress } from '../core/net/egress.ts';
import type { EnvironmentRow } from '../db/store.ts';
import { policyOf } from './egress-policy.ts';
import { type openStorage, openVault } from './open-storage.ts';

const CATALOGUE = join(import.meta.dirname, '../generated/catalogue.json');

/** What writing a provider takes, without a server; nothing is ever sent. */
export function openImportTools(
  { config, secrets }: Awaited<ReturnType<typeof openStorage>>,
  environment: EnvironmentRow,
): CustomProviderTools & { events: Events } {
  const policy = policyOf(config, environment.kind);
  const newId = createIds(Date.now, randomBytes);
  return {
    catalogue: createCatalogue(readCatalogueIndex(readFileSync(CATALOGUE, 'utf8'))),
    vault: openVault(config, secrets).vault,
    now: Date.now,
    newId,
    events: createEvents({ now: Date.now, newId }),
    judgeAddress: (url) => {
      const verdict = checkAddress(policy, url);
      return verdict.ok ? null : verdict.reason;
    },
  };
}
