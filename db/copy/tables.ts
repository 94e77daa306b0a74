/** The tables that are copied. Each comes after the tables that its rows refer to. */
export const COPIED_TABLES: readonly string[] = [
  ...['key_checks', 'environments', 'environment_hosts', 'instances', 'deployment_secrets'],
  ...['api_clients', 'api_client_secrets', 'custom_providers', 'data_keys', 'connections', 'accounts'],
  ...['account_tombstones', 'executions', 'idempotency_keys', 'audit_log', 'audit_heads', 'audit_archives'],
  ...['catalogue_digests', 'auth_requests', 'auth_flows', 'refresh_leases', 'jobs', 'periodic_jobs'],
  ...['stored_contents', 'environment_tools', 'environment_tool_revisions', 'tool_overlays', 'mcp_configs'],
  ...['event_heads', 'events', 'webhook_endpoints', 'webhook_deliveries'],
  ...['oauth_clients', 'oauth_logins', 'oauth_grants', 'login_providers'],
  ...['operator_sessions', 'portal_sessions', 'environment_logos', 'execution_statistics', 'refresh_statistics'],
];

/** The maximum number of rows of a table in one batch of the copy, for tables whose rows can be large. */
const BATCH_OF_TABLE: Readonly<Record<string, number>> = {
  stored_contents: 1,
  idempotency_keys: 50,
  jobs: 50,
  auth_requests: 50,
  events: 200,
  environment_tools: 200,
};
const BATCH = 1000;

export function batchOf(table: string): number {
  return BATCH_OF_TABLE[table] ?? BATCH;
}

/**
 * Returns the SQL condition for the rows of a table that are copied. Rows of `data_keys` that contain no key are not
 * copied.
 */
export function conditionOf(table: string): string {
  return table === 'data_keys' ? 'used = 1' : 'true';
}
