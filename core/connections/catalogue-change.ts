import { hash } from 'node:crypto';
import type { EnvironmentId, Store } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { adaptToCatalogue, type ProviderChangeDeps } from './provider-change.ts';

export interface CatalogueChangeDeps extends ProviderChangeDeps {
  store: Store;
  catalogue: Catalogue;
  log: { warn(fields: object, message: string): void };
}

/**
 * Adapts the accounts and connections of every environment to built-in connectors that have changed since the last
 * start. After an upgrade, a connector must not use a stored credential for more than it was supplied for. Await it
 * before requests are served.
 */
export async function adaptToUpgrade(deps: CatalogueChangeDeps): Promise<void> {
  const { store, catalogue } = deps;
  const providers = catalogue.connectors().flatMap(({ identifier }) => catalogue.provider(identifier) ?? []);
  const digests = Object.fromEntries(providers.map((provider) => [provider.identifier, digestOf(provider)]));
  for (const { id } of await store.read.environments.list()) {
    const before = await store.read.catalogueDigests.get(id);
    const changed = providers.filter(
      ({ identifier }) => (before?.[identifier] ?? digests[identifier]) !== digests[identifier],
    );
    for (const provider of changed) await adaptOne(deps, id, provider);
    // A removed connector keeps its digest, because it may return in a later version.
    const after = { ...before, ...digests };
    if (JSON.stringify(after) === JSON.stringify(before)) continue;
    await store.write((tx) => tx.catalogueDigests.set(id, after));
  }
}

async function adaptOne(
  deps: CatalogueChangeDeps,
  environmentId: EnvironmentId,
  now: ProviderDefinition,
): Promise<void> {
  const cause = { environmentId, actor: 'system', requestId: '' };
  const { parked, withdrawn } = await deps.store.write((tx) => adaptToCatalogue(tx, deps, environmentId, now, cause));
  if (parked + withdrawn === 0) return;
  const fields = { environment: environmentId, connector: now.identifier, accounts: parked, connections: withdrawn };
  const remedy = 'connect the accounts again, and set the clients of the connections again';
  deps.log.warn(fields, `an upgrade of this connector made accounts or connections unusable: ${remedy}`);
}

function digestOf({ api, authPatterns }: ProviderDefinition): string {
  const { base_url, base_url_input, extra_origins } = api;
  return hash('sha256', JSON.stringify([base_url, base_url_input, extra_origins, authPatterns]), 'base64url');
}
