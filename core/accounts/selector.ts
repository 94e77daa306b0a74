import { ApiError } from '../errors.ts';

/** How a request may name an account. Every field is the caller's text, already checked for length and characters. */
export interface AccountName {
  id?: string | undefined;
  connector?: string | undefined;
  identifier?: string | undefined;
  organization_id?: string | undefined;
  user_id?: string | undefined;
}

/** The natural key of an account: the owner (an organization, a user of it, or a user), the connector, the identifier. */
export interface AccountKey {
  connector: string;
  identifier: string;
  organizationId: string | undefined;
  userId: string | undefined;
}

export type Selector = { by: 'id'; id: string; agreeing: AccountName } | { by: 'key'; key: AccountKey };

/**
 * Judges how an account is named: by `id`, or by `organization_id` and/or `user_id` with `connector` and `identifier`. With an
 * `id`, further fields must agree with the account.
 *
 * @param idField what the request calls the id (`id` or `connected_account_id`)
 * @throws ApiError INCOMPLETE_ACCOUNT_KEY that names each missing field
 */
export function readSelector(name: AccountName, idField = 'id'): Selector {
  if (name.id !== undefined) return { by: 'id', id: name.id, agreeing: name };
  return { by: 'key', key: readKey(name, idField) };
}

/** The natural key of a request that may not name an account by id. */
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
