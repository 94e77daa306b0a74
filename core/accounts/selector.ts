import { ApiError } from '../errors.ts';

/** The fields with which a request may name an account. Length and characters of every field were checked before. */
export interface AccountName {
  id?: string | undefined;
  connector?: string | undefined;
  identifier?: string | undefined;
  organization_id?: string | undefined;
  user_id?: string | undefined;
}

/**
 * The natural key of an account: its owner (an organization, a user of an organization, or a user), the connector and
 * the identifier.
 */
export interface AccountKey {
  connector: string;
  identifier: string;
  organizationId: string | undefined;
  userId: string | undefined;
}

export type Selector =
  | { by: 'id'; id: string; agreeing: AccountName }
  /** `connectionId`: the connection that `connector` names, if the caller has read it. */
  | { by: 'key'; key: AccountKey; connectionId?: string };

/**
 * Reads how a request names an account: by `id`, or by `connector` and `identifier` with `organization_id` or `user_id`
 * or both. If there is an `id`, the other fields must match the account.
 *
 * @param idField the name of the id in the request (`id` or `connected_account_id`)
 * @throws ApiError INCOMPLETE_ACCOUNT_KEY, naming each missing field
 */
export function readSelector(name: AccountName, idField = 'id'): Selector {
  if (name.id !== undefined) return { by: 'id', id: name.id, agreeing: name };
  return { by: 'key', key: readKey(name, idField) };
}

/** Reads the natural key, for requests that must not name an account by id. */
export function readKey(name: AccountName, idField?: string): AccountKey {
  const { connector, identifier, organization_id: organizationId, user_id: userId } = name;
  const hasOwner = organizationId !== undefined || userId !== undefined;
  if (connector !== undefined && identifier !== undefined && hasOwner) {
    return { connector, identifier, organizationId, userId };
  }
  const errors = [];
  if (connector === undefined) errors.push({ field: 'connector', message: 'is required' });
  if (identifier === undefined) errors.push({ field: 'identifier', message: 'is required' });
  if (!hasOwner) errors.push({ field: 'organization_id', message: 'is required, or user_id' });
  const ways = idField ? `Identify the account by ${idField}, or by` : 'Identify the account by';
  throw new ApiError(
    'INCOMPLETE_ACCOUNT_KEY',
    `${ways} organization_id and/or user_id with connector and identifier.`,
    { errors },
  );
}
