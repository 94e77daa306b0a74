import type { components } from '../../../generated/api.d.ts';
import { type Api, resultOf } from '../../api/client.ts';
import { readPages } from '../../api/pages.ts';
import { fields } from '../../output/table.ts';

type Connection = components['schemas']['ConnectionResponse']['connection'];

/** Returns the id of a connection that is named by its id or its `key_id`; undefined if no connection has this name. */
export async function connectionId(api: Api, name: string): Promise<string | undefined> {
  if (name.startsWith('conn_')) return name;
  const connections = await readPages({ limit: 0, all: true }, async (page) => {
    const body = await resultOf(api.GET('/api/v1/connections', { params: { query: page } }));
    return { ...body, items: body.connections };
  });
  return connections.find(({ key_id }) => key_id === name)?.id;
}

/** Formats a connection for people. */
export function describeConnection(connection: Connection): string {
  return fields({
    Connection: connection.id,
    Name: connection.key_id,
    Provider: connection.provider_key,
    Type: connection.type,
    Status: connection.status,
    Missing: connection.missing_settings,
    Enabled: connection.enabled ? 'yes' : 'no',
    Organization: connection.organization_id,
    'Client id': connection.client_id,
    'Client secret': connection.has_client_secret ? 'set' : 'not set',
    Scopes: connection.scopes,
    'Allowed tools': connection.allowed_tools ?? 'all',
    'Trace context': connection.send_trace_context ? 'sent' : 'not sent',
    'MCP timeout': `${connection.mcp_timeout_seconds} s`,
    'Callback URL': connection.callback_url,
    'MCP server': connection.mcp_server_url,
    Updated: connection.updated_at,
  });
}
