import type { TokenEndpointDeps } from '../mcp-login/token-endpoint.ts';
import type { SigningKeys } from '../tokens/signing-key.ts';

/**
 * The dependencies of the endpoints that issue access tokens to API clients and MCP clients, and publish the public
 * keys that verify them.
 */
export interface Tokens extends TokenEndpointDeps {
  signingKeys: SigningKeys;
  random(size: number): Buffer;
}
