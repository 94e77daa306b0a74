import type { TokenEndpointDeps } from '../mcp-login/token-endpoint.ts';
import type { SigningKeys } from '../tokens/signing-key.ts';

/** Access tokens for API clients, and tokens of MCP clients. */
export interface Tokens extends TokenEndpointDeps {
  signingKeys: SigningKeys;
  random(size: number): Buffer;
}
