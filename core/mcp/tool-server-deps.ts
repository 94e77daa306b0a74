import type { SealedTokens } from '../vault/sealed-token.ts';
import type { CallDeps } from './call-tool.ts';

/** The dependencies of the methods of the MCP server. */
export interface ToolServerDeps extends CallDeps {
  sealedStates: SealedTokens;
}
