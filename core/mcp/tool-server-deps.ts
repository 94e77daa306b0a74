import type { SealedTokens } from '../vault/sealed-token.ts';
import type { CallDeps } from './call-tool.ts';

/** What the methods of the MCP server need. */
export interface ToolServerDeps extends CallDeps {
  sealedStates: SealedTokens;
}
