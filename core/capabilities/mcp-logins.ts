import type { CheckTools } from '../mcp-login/check-login-provider.ts';
import type { LoginProviderTools } from '../mcp-login/login-provider.ts';
import type { RegisterTools } from '../mcp-login/register-client.ts';
import type { TokenEndpointTools } from '../mcp-login/token-endpoint.ts';
import type { Lists } from './lists.ts';

/** MCP clients, the logins of their users, and the grants that users gave them. */
export interface McpLogins
  extends Lists,
    TokenEndpointTools,
    RegisterTools,
    CheckTools,
    Pick<LoginProviderTools, 'vault'> {
  store: TokenEndpointTools['store'];
  newId(prefix: 'ocl' | 'grt' | 'lgp'): string;
}
