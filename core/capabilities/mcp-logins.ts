import type { RegisterTools } from '../mcp-login/register-client.ts';
import type { TokenEndpointTools } from '../mcp-login/token-endpoint.ts';
import type { Lists } from './lists.ts';

/** Clients for which users log in, and what users have granted to them. */
export interface McpLogins extends Lists, TokenEndpointTools, RegisterTools {
  store: TokenEndpointTools['store'];
  newId(prefix: 'ocl' | 'grt'): string;
}
