import type { GrantFilters } from '../../db/store.ts';

/** The fields of a request that select grants. */
export interface GrantFields {
  organization_id?: string | undefined;
  user_id?: string | undefined;
  identifier?: string | undefined;
  client_id?: string | undefined;
  server_id?: string | undefined;
}

export function grantFilters(fields: GrantFields): GrantFilters {
  const { organization_id, user_id, identifier, client_id, server_id } = fields;
  return {
    ...(organization_id !== undefined && { organizationId: organization_id }),
    ...(user_id !== undefined && { userId: user_id }),
    ...(identifier !== undefined && { identifier }),
    ...(client_id !== undefined && { clientId: client_id }),
    ...(server_id !== undefined && { serverId: server_id }),
  };
}
