import type { EnvironmentId, Repositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';

/** Returns an identifier that is not in use: `Acme CRM` → `acme-crm`, then `acme-crm-2` and so on. */
export async function freeIdentifier(
  tx: Repositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  displayName: string,
): Promise<string> {
  const plain = displayName.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug =
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 80)
      .replace(/^-|-$/g, '') || 'provider';
  for (let suffix = 1; ; suffix++) {
    const identifier = suffix === 1 ? slug : `${slug}-${suffix}`;
    if (!(await isTaken(tx, catalogue, environmentId, identifier))) return identifier;
  }
}

/**
 * Whether a name is in use. Names of built-in connectors are reserved. Names of connections are reserved too: the
 * connection of a deleted provider must not become usable again with a new provider of the same name, and the field
 * `connector` of requests would select the connection instead of the new provider.
 */
async function isTaken(
  tx: Repositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  identifier: string,
): Promise<boolean> {
  if (catalogue.connector(identifier)) return true;
  if (await tx.customProviders.get(environmentId, identifier)) return true;
  if (await tx.connections.byKeyId(environmentId, identifier)) return true;
  return (await tx.connections.listByProvider(environmentId, identifier)).length > 0;
}
