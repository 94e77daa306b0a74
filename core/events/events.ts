import type { AuditRow, EnvironmentId, Repositories } from '../../db/store.ts';

/** Who did something, in which request. */
export interface Cause {
  environmentId: EnvironmentId;
  /** The API client, or `system` for what the service does by itself. */
  actor: string;
  requestId: string;
}

export interface EventTools {
  now(): number;
  newId(prefix: 'aud'): string;
  /** Is told the subject of each event, within the transaction that causes it. */
  onEvent?(subjectId: string): void;
}

/**
 * The business events, one function each. Each is written in the transaction that causes it: what is not committed did not happen,
 * and what is committed cannot be missing from the audit log. No event carries a secret.
 */
export function createEvents({ now, newId, onEvent }: EventTools) {
  const record = (
    tx: Repositories,
    cause: Cause,
    action: string,
    subjectId: string,
    details: Record<string, unknown> = {},
  ) => {
    onEvent?.(subjectId);
    return tx.audit.append(cause.environmentId, {
      id: newId('aud'),
      at: now(),
      actor: cause.actor,
      action,
      subjectId,
      requestId: cause.requestId,
      details,
    });
  };
  return {
    accountCreated: (tx: Repositories, cause: Cause, id: string, status: string) =>
      record(tx, cause, 'account.created', id, { status }),
    accountUpdated: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'account.updated', id),
    /** Two generations show which credential was in use when. */
    credentialsReplaced: (tx: Repositories, cause: Cause, id: string, from: number, to: number) =>
      record(tx, cause, 'account.credentials_replaced', id, { from_generation: from, to_generation: to }),
    credentialsRead: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'account.credentials_read', id),
    accountExpired: (tx: Repositories, cause: Cause, id: string, reason: string) =>
      record(tx, cause, 'account.expired', id, { reason }),
    /** The account was taken out of use: its credential was given for something else than what would be done with it. */
    accountParked: (tx: Repositories, cause: Cause, id: string, reason: string) =>
      record(tx, cause, 'account.parked', id, { reason }),
    accountDisconnected: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'account.disconnected', id),
    accountDeleted: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'account.deleted', id),
    /** What became of tokens that were given up; `revocation` is the id of the order. */
    tokensRevoked: (tx: Repositories, cause: Cause, id: string, revocation: string) =>
      record(tx, cause, 'account.revoked', id, { revocation }),
    tokensNotRevocable: (tx: Repositories, cause: Cause, id: string, revocation: string, reason: string) =>
      record(tx, cause, 'account.not_revocable', id, { revocation, reason }),
    revocationFailed: (tx: Repositories, cause: Cause, id: string, revocation: string, reason: string) =>
      record(tx, cause, 'account.revocation_failed', id, { revocation, reason }),
    linkCreated: (tx: Repositories, cause: Cause, id: string, request: string) =>
      record(tx, cause, 'account.link_created', id, { request }),
    /** Somebody has finished the link; who it was is not verified yet. */
    linkFinished: (tx: Repositories, cause: Cause, id: string, request: string) =>
      record(tx, cause, 'account.link_finished', id, { request }),
    linkEnded: (tx: Repositories, cause: Cause, id: string, request: string, as: string, tokens: string) =>
      record(tx, cause, 'account.link_ended', id, { request, as, tokens }),
    verificationMismatched: (tx: Repositories, cause: Cause, id: string, request: string, mismatches: number) =>
      record(tx, cause, 'account.verification_mismatched', id, { request, mismatches }),
    /** What was granted by a link has become the credentials of the account. */
    accountConnected: (tx: Repositories, cause: Cause, id: string, request: string, from: number, to: number) =>
      record(tx, cause, 'account.connected', id, { request, from_generation: from, to_generation: to }),
    /** Records were copied to the archive; its last hash makes the file a part of the chain. */
    auditArchived: (tx: Repositories, cause: Cause, first: AuditRow, last: AuditRow) =>
      record(tx, cause, 'environment.audit_archived', cause.environmentId, {
        first_seq: first.seq,
        last_seq: last.seq,
        last_hash: last.hash.toString('hex'),
      }),
    environmentUpdated: (tx: Repositories, cause: Cause, id: string, fields: string[]) =>
      record(tx, cause, 'environment.updated', id, { fields }),
    connectionCreated: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'connection.created', id),
    connectionUpdated: (tx: Repositories, cause: Cause, id: string, fields: string[]) =>
      record(tx, cause, 'connection.updated', id, { fields }),
    /** The client of the connection was set up for something else than its provider would do with it now. */
    connectionClientWithdrawn: (tx: Repositories, cause: Cause, id: string, clientId: string, reason: string) =>
      record(tx, cause, 'connection.client_withdrawn', id, { client_id: clientId, reason }),
    connectionDeleted: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'connection.deleted', id),
    providerCreated: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'provider.created', id),
    providerUpdated: (tx: Repositories, cause: Cause, id: string, accountsParked: number) =>
      record(tx, cause, 'provider.updated', id, { accounts_parked: accountsParked }),
    providerDeleted: (tx: Repositories, cause: Cause, id: string, accounts: number) =>
      record(tx, cause, 'provider.deleted', id, { accounts_disconnected: accounts }),
    /** Tools of a provider were imported; the counts say how many. */
    toolsImported: (
      tx: Repositories,
      cause: Cause,
      connector: string,
      counts: { added: number; changed: number; removed: number },
    ) => record(tx, cause, 'tools.imported', connector, counts),
    mcpConfigCreated: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'mcp_config.created', id),
    mcpConfigUpdated: (tx: Repositories, cause: Cause, id: string, fields: string[]) =>
      record(tx, cause, 'mcp_config.updated', id, { fields }),
    mcpConfigDeleted: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'mcp_config.deleted', id),
    /** Somebody was given the right to act for a user at an MCP server. */
    mcpSessionCreated: (tx: Repositories, cause: Cause, id: string, user: object) =>
      record(tx, cause, 'mcp_session.created', id, { user }),
    toolCreated: (tx: Repositories, cause: Cause, name: string) => record(tx, cause, 'tool.created', name),
    toolUpdated: (tx: Repositories, cause: Cause, name: string, fields: string[]) =>
      record(tx, cause, 'tool.updated', name, { fields }),
    toolDeleted: (tx: Repositories, cause: Cause, name: string) => record(tx, cause, 'tool.deleted', name),
    /** What an MCP server lists now; names only, for its texts are somebody else's. */
    toolsSynced: (
      tx: Repositories,
      cause: Cause,
      id: string,
      { added, accepted, flagged, removed }: Record<'added' | 'accepted' | 'flagged' | 'removed', string[]>,
    ) => record(tx, cause, 'provider.tools_synced', id, { added, accepted, flagged, removed }),
    clientCreated: (tx: Repositories, cause: Cause, id: string, scopes: readonly string[]) =>
      record(tx, cause, 'api_client.created', id, { scopes }),
    clientDisabled: (tx: Repositories, cause: Cause, id: string) => record(tx, cause, 'api_client.disabled', id),
    clientSecretRotated: (tx: Repositories, cause: Cause, id: string) =>
      record(tx, cause, 'api_client.secret_rotated', id),
  };
}

export type Events = ReturnType<typeof createEvents>;
