import type { Events } from '../events/events.ts';
import type { ConfigDeps } from '../mcp/configs.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on MCP configs, and on tokens for the sessions of users at MCP servers. */
export interface McpConfigs extends Lists, ConfigDeps {
  /** Encrypts session tokens. */
  sealedData: SealedTokens;
  events: Events;
}
