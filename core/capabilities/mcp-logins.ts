import type { CheckDeps } from '../mcp-login/check-login-provider.ts';
import type { LoginProviderDeps } from '../mcp-login/login-provider.ts';
import type { RegisterDeps } from '../mcp-login/register-client.ts';
import type { TokenEndpointDeps } from '../mcp-login/token-endpoint.ts';
import type { Lists } from './lists.ts';

/**
 * The dependencies of the API operations on MCP clients, on the logins of their users, and on the grants that users
 * gave them.
 */
export interface McpLogins extends Lists, TokenEndpointDeps, RegisterDeps, CheckDeps, Pick<LoginProviderDeps, 'vault'> {
  store: TokenEndpointDeps['store'];
  newId(prefix: 'ocl' | 'grt' | 'lgp'): string;
}
