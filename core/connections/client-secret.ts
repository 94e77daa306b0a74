import type { ClientBinding, ConnectionRow } from '../../db/store.ts';
import type { Secret } from '../secret.ts';
import { bindingDigest } from '../vault/binding-digest.ts';
import type { ValueContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';

/** The columns that contain the client of a connection, apart from its public id. */
export type ClientColumns = Pick<ConnectionRow, 'clientSecretSealed' | 'clientGeneration' | 'clientBinding'>;

/**
 * Returns what the client secret of a connection is bound to: its row, its generation, and the binding that it was
 * supplied under.
 */
export function clientSecretPlace({
  environmentId,
  id,
  clientGeneration,
  clientBinding,
}: Pick<ConnectionRow, 'environmentId' | 'id' | 'clientGeneration' | 'clientBinding'>): ValueContext {
  return {
    table: 'connections',
    environmentId,
    recordId: id,
    field: 'client_secret',
    generation: clientGeneration,
    bindingDigest: bindingDigest([], clientBinding === null ? [] : [canonical(clientBinding)]),
  };
}

/**
 * Returns the columns of a client that is set now, under the next generation.
 *
 * @param secret null if the client has no secret
 */
export function sealClient(
  vault: Vault,
  place: Pick<ConnectionRow, 'environmentId' | 'id' | 'clientGeneration'>,
  secret: Secret | null,
  clientBinding: ClientBinding,
): ClientColumns {
  return resealClient(vault, { ...place, clientGeneration: place.clientGeneration + 1 }, secret, clientBinding);
}

/** Returns the columns of the same client with a narrower binding. */
export function resealClient(
  vault: Vault,
  { environmentId, id, clientGeneration }: Pick<ConnectionRow, 'environmentId' | 'id' | 'clientGeneration'>,
  secret: Secret | null,
  clientBinding: ClientBinding,
): ClientColumns {
  const place = clientSecretPlace({ environmentId, id, clientGeneration, clientBinding });
  const clientSecretSealed = secret === null ? null : vault.sealValue(place, secret).blob;
  return { clientSecretSealed, clientGeneration, clientBinding };
}

function canonical({ method, audience, within, base, allowed, registered, pinned }: ClientBinding): string {
  const { byAccount, byProvider } = pinned;
  return JSON.stringify([
    method,
    audience,
    within.toSorted(),
    base,
    allowed,
    registered,
    byAccount.toSorted(),
    byProvider?.toSorted() ?? null,
  ]);
}
