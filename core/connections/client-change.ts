import type { ConnectionRow, EnvironmentId, Transaction } from '../../db/store.ts';
import { revokeObtained } from '../accounts/remove-account.ts';
import type { RevocationDeps } from '../accounts/revocation-order.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { Cause } from '../events/events.ts';
import type { Vault } from '../vault/vault.ts';
import { clientSecretOf } from './client.ts';
import { bindClient, isClientCovered } from './client-binding.ts';
import { NO_CLIENT_SECRET, resealClient } from './client-secret.ts';
import { findPattern } from './providers.ts';

const WITHDRAWN =
  'The provider has changed the endpoints or the authentication method of the client. Set the client again.';

/**
 * Removes the clients of a provider's connections if the new definition would use them elsewhere or in another way than
 * they were set up for. Their secrets are deleted, and tokens that Valetkey obtained with them are revoked. For a
 * custom provider, call it while the old definition is still stored, because the revocations use that definition.
 *
 * @returns how many connections lost their client
 */
export async function withdrawClients(
  tx: Transaction,
  deps: RevocationDeps,
  environmentId: EnvironmentId,
  provider: ProviderDefinition,
  cause: Cause,
): Promise<number> {
  let withdrawn = 0;
  for (const connection of await tx.connections.listByProvider(environmentId, provider.identifier)) {
    const pattern = findPattern(provider, connection.type);
    const { clientBinding: bound, id, clientId } = connection;
    if (bound === null || !pattern || isClientCovered(bound, provider, pattern)) continue;
    await revokeObtained(tx, deps, environmentId, id);
    const gone = { clientId: null, ...NO_CLIENT_SECRET, clientBinding: null };
    await tx.connections.update(environmentId, id, connection.version, {
      ...gone,
      clientGeneration: connection.clientGeneration + 1,
      // Valetkey registers a new client at an MCP server itself, unless an operator had set the removed client.
      status: pattern.is_mcp && bound.registered ? 'IN_PROGRESS' : 'DRAFT',
      updatedAt: deps.now(),
    });
    await deps.events.emit(tx, cause, {
      type: 'connection.client_withdrawn',
      subject: id,
      details: { client_id: clientId ?? '', reason: WITHDRAWN },
      data: async (show) => ({ connection: await show.connection(id) }),
    });
    withdrawn += 1;
  }
  return withdrawn;
}

/**
 * Binds a client to the new definition of its provider, after newly read metadata has changed the definition. A client
 * whose binding did not allow the previous definition stays unchanged, and cannot be used.
 *
 * @throws OAuthConfigError if the client secret cannot be decrypted
 */
export async function rebindClient(
  tx: Transaction,
  vault: Vault,
  connection: ConnectionRow,
  { before, now }: { before: ProviderDefinition; now: ProviderDefinition },
  updatedAt: number,
): Promise<void> {
  const [was, is] = [findPattern(before, connection.type), findPattern(now, connection.type)];
  const { clientBinding: bound } = connection;
  if (bound === null || !was || !is || !isClientCovered(bound, before, was)) return;
  const secret = clientSecretOf(vault, { connection, provider: before, pattern: was });
  const binding = { ...bindClient(now, is, bound.allowed), registered: bound.registered, pinned: bound.pinned };
  const columns = resealClient(vault, connection, secret, binding);
  await tx.connections.update(connection.environmentId, connection.id, connection.version, { ...columns, updatedAt });
}
