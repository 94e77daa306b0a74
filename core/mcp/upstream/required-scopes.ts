import type { AccountRow, Store } from '../../../db/store.ts';
import type { ToolError } from '../../tools/outcome.ts';

const MAX_SCOPES = 200;
const MAX_CHARS = 8192;

/**
 * Records the scopes that the MCP server of an account required in a challenge (RFC 6750 §3.1), so that the next link
 * requests them too. If all recorded scopes together are too many for an authorization URL, only those of the newest
 * challenge are kept.
 *
 * @param error without secrets; nothing is recorded if it names no scopes
 */
export async function recordRequiredScopes(
  { store, now }: { store: Pick<Store, 'write'>; now(): number },
  { environmentId, id, credentialGeneration, requiredScopes }: AccountRow,
  { requiredScopes: named }: Pick<ToolError, 'requiredScopes'>,
): Promise<void> {
  if (!named || isSubset(named, requiredScopes)) return;
  await store.write(async (tx) => {
    const current = await tx.accounts.get(environmentId, id);
    // A challenge for earlier credentials may be from another server.
    if (current?.credentialGeneration !== credentialGeneration || isSubset(named, current.requiredScopes)) return;
    const all = [...new Set([...(current.requiredScopes ?? []), ...named])];
    const fits = all.length <= MAX_SCOPES && all.join(' ').length <= MAX_CHARS;
    await tx.accounts.update(environmentId, id, current.version, {
      requiredScopes: fits ? all : [...new Set(named)],
      updatedAt: now(),
    });
  });
}

function isSubset(scopes: readonly string[], known: readonly string[] | null): boolean {
  return scopes.every((scope) => known?.includes(scope));
}
