import type { ClientBinding, ConnectionRow } from '../../db/store.ts';
import type { Secret } from '../secret.ts';
import { bindingDigest } from '../vault/binding-digest.ts';
import type { DataKeyContext, RecordContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';

/** The columns that contain the client of a connection, apart from its public id. */
export type ClientColumns = Pick<
  ConnectionRow,
  'wrappedDataKey' | 'kekId' | 'clientSecretSealed' | 'clientGeneration' | 'clientBinding'
>;

type SecretColumns = Pick<ConnectionRow, 'wrappedDataKey' | 'kekId' | 'clientSecretSealed'>;

type ConnectionPlace = Pick<ConnectionRow, 'environmentId' | 'id'>;

export const NO_CLIENT_SECRET: SecretColumns = { wrappedDataKey: null, kekId: null, clientSecretSealed: null };

/** Returns the context that the data key of a client secret is bound to. */
export function clientContext(environmentId: string, id: string, generation: number): DataKeyContext {
  return { table: 'connections', environmentId, recordId: id, generation };
}

/**
 * Returns what the encrypted client secret of a connection is bound to: its row, the binding of the client, and its
 * generation, which increases whenever the client is set.
 */
function clientSecretContext({
  environmentId,
  id,
  clientGeneration,
  clientBinding,
}: Pick<ConnectionRow, 'environmentId' | 'id' | 'clientGeneration' | 'clientBinding'>): RecordContext {
  return {
    ...clientContext(environmentId, id, clientGeneration),
    bindingDigest: bindingDigest([], clientBinding === null ? [] : [canonical(clientBinding)]),
  };
}

/**
 * Encrypts the secret of a client that is being set. Returns its columns, with the next generation.
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

/**
 * Encrypts the secret of a stored client again for a changed binding, because the secret is bound to it. Returns the
 * columns, with the same generation.
 */
export function resealClient(
  vault: Vault,
  { environmentId, id, clientGeneration }: Pick<ConnectionRow, 'environmentId' | 'id' | 'clientGeneration'>,
  secret: Secret | null,
  clientBinding: ClientBinding,
): ClientColumns {
  const place = clientSecretContext({ environmentId, id, clientGeneration, clientBinding });
  return { ...sealSecret(vault, place, secret), clientGeneration, clientBinding };
}

function sealSecret(vault: Vault, place: RecordContext, secret: Secret | null): SecretColumns {
  if (secret === null) return NO_CLIENT_SECRET;
  const { sealed, ...key } = vault.sealRecord(place, { client_secret: secret });
  return { ...key, clientSecretSealed: sealed.client_secret };
}

/**
 * Decrypts the client secret of a connection; null if it has none.
 *
 * @throws VaultError if the row, the secret or the binding was altered
 */
export function openClientSecret(vault: Vault, connection: ClientColumns & ConnectionPlace): Secret | null {
  const { wrappedDataKey, clientSecretSealed } = connection;
  if (!wrappedDataKey || !clientSecretSealed) return null;
  const sealed = { client_secret: clientSecretSealed };
  return vault.open(clientSecretContext(connection), 'client_secret', { wrappedDataKey, sealed });
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
