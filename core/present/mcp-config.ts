import type { EnvironmentRow, McpConfigRow } from '../../db/store.ts';
import { maxListedOf, mcpServerUrl } from '../mcp/server-definition.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentMcpConfig(
  { id, name, description, mappings, createdAt, updatedAt }: McpConfigRow,
  environment: Pick<EnvironmentRow, 'baseUrl'>,
): Schemas['McpConfig'] {
  return {
    id,
    name,
    description,
    mappings: mappings.map((mapping) => ({
      connection_id: mapping.connectionId,
      tools: mapping.tools,
      max_listed_tools: maxListedOf(mapping),
      resources: mapping.resources ?? false,
      prompts: mapping.prompts ?? false,
    })),
    mcp_server_url: mcpServerUrl(environment, id),
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
  };
}
