import type { UserName } from '../../core/discovery/readiness.ts';
import { ApiError } from '../../core/errors.ts';

interface UserQuery {
  organization_id?: string | undefined;
  user_id?: string | undefined;
  identifier?: string | undefined;
}

/**
 * Returns the user of a search; null if the query names none. @throws ApiError INCOMPLETE_ACCOUNT_KEY for an identifier
 * alone
 */
export function readSearchUser(query: UserQuery): UserName | null {
  return Object.keys(query).length === 0 ? null : readUser(query);
}

/** @throws ApiError INCOMPLETE_ACCOUNT_KEY if the query names neither an organization nor a user */
export function readUser(query: UserQuery): UserName {
  const { organization_id: organizationId, user_id: userId, identifier } = query;
  if (organizationId === undefined && userId === undefined) {
    throw new ApiError('INCOMPLETE_ACCOUNT_KEY', 'Identify the user by organization_id and/or user_id.', {
      errors: [{ field: 'organization_id', message: 'is required, or user_id' }],
    });
  }
  return { organizationId, userId, identifier };
}
