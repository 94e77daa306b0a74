import type { ConnectionRow, EnvironmentId, ReadRepositories, Transaction } from '../../db/store.ts';
import type { Details } from '../accounts/authorization-details.ts';
import { formOf, staticFieldsIn, typeAccepts } from '../accounts/details.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { checkStaticDetails } from '../connectors/static-details.ts';
import { writeWithinSpace } from '../environments/within-space.ts';
import { ApiError } from '../errors.ts';
import type { Cause, Events } from '../events/events.ts';
import { firstClient } from './client-binding.ts';
import { connectionSpace } from './connection-space.ts';
import { findProvider } from './providers.ts';
import { connectionStatus } from './status.ts';

const NO_CLIENT = { clientId: null, hasClientSecret: false };

/** The dependencies for creating a connection, in addition to the database. */
export interface ConnectionDeps {
  catalogue: Catalogue;
  now(): number;
  newId(prefix: 'conn'): string;
}

/**
 * Finds the connection that a request names as `connector`: by the connection's `key_id`, otherwise the only connection
 * of the provider of that name.
 *
 * @returns undefined if there is none
 * @throws ApiError AMBIGUOUS_CONNECTOR, listing the connections
 */
export async function resolveConnector(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  connector: string,
): Promise<ConnectionRow | undefined> {
  const named = await read.connections.byKeyId(environmentId, connector);
  if (named) return named;
  const ofProvider = await read.connections.listByProvider(environmentId, connector);
  if (ofProvider.length > 1) throw ambiguous(connector, ofProvider);
  return ofProvider[0];
}

/**
 * Finds the connection that a request names as `connector`. At first use it creates one with `key_id` = connector, as a
 * draft if client credentials are missing.
 *
 * @param details the first account's credentials, which select one of the types that the provider offers
 * @throws ApiError UNKNOWN_CONNECTOR, AMBIGUOUS_CONNECTOR; VALIDATION_FAILED, as `writeWithinSpace`
 */
export async function ensureConnection(
  tx: Transaction,
  deps: ConnectionDeps & { events: Events },
  environmentId: EnvironmentId,
  connector: string,
  details: Details,
  cause: Cause,
): Promise<ConnectionRow> {
  const found = await resolveConnector(tx, environmentId, connector);
  if (found) return found;
  const provider = await findProvider(tx, deps.catalogue, environmentId, connector);
  if (!provider) throw unknownConnector(connector);
  const pattern = choosePattern(provider, details);
  const at = deps.now();
  const id = deps.newId('conn');
  const row = {
    id,
    keyId: connector,
    providerKey: provider.identifier,
    type: pattern.type,
    status: connectionStatus(pattern, NO_CLIENT, false),
    verificationMode: 'REQUIRED',
    ...firstClient({ provider, pattern }, null),
    createdAt: at,
    updatedAt: at,
  };
  await writeWithinSpace(connectionSpace(tx, environmentId), () => tx.connections.insert(environmentId, row));
  const connection = (await tx.connections.get(environmentId, id)) as ConnectionRow;
  await deps.events.emit(tx, cause, {
    type: 'connection.created',
    subject: id,
    data: async (show) => ({ connection: await show.connection(connection) }),
  });
  return connection;
}

export function unknownConnector(connector: string): ApiError {
  const detail = `The connector ${connector} is neither the key_id of a connection nor the identifier of a provider.`;
  return new ApiError('UNKNOWN_CONNECTOR', detail, {
    errors: [{ field: 'connector', message: 'does not name a connection or a provider' }],
  });
}

/** Returns the error for operations whose `connector` must name a provider. */
export function unknownProvider(connector: string): ApiError {
  return new ApiError('UNKNOWN_CONNECTOR', `The connector ${connector} is not the identifier of a provider.`, {
    errors: [{ field: 'connector', message: 'does not name a provider' }],
  });
}

/**
 * Returns the pattern that the credentials fit best, so that errors refer to the type that the caller meant. Without
 * credentials it returns the provider's first pattern.
 */
export function choosePattern(provider: ProviderDefinition, details: Details): AuthPattern {
  const [usual] = provider.authPatterns;
  if (!usual) throw unknownConnector(provider.identifier);
  const form = formOf(details);
  if (form === null) return usual;
  const taking = provider.authPatterns.filter((pattern) => typeAccepts(pattern.type, form));
  if (form !== 'static_auth') return taking[0] ?? usual;
  const fields = staticFieldsIn(details);
  const problems = taking.map((pattern) => checkStaticDetails(pattern, fields).length);
  return taking[problems.indexOf(Math.min(...problems))] ?? usual;
}

function ambiguous(connector: string, connections: ConnectionRow[]): ApiError {
  const names = connections.map((connection) => connection.keyId).join(', ');
  const detail = `The provider ${connector} has several connections: ${names}. Use the key_id of one of them.`;
  return new ApiError('AMBIGUOUS_CONNECTOR', detail, {
    errors: [{ field: 'connector', message: `must be one of ${names}` }],
  });
}
