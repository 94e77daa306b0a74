import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { type TokenServer, tokenServerAt } from '../../../core/oauth/server.ts';

/** Returns the token endpoint of a config that contains its addresses. */
export function tokenServerOf(
  config: OAuthConfig,
  address: (template: string) => string = (template) => template,
): TokenServer {
  return tokenServerAt({ config, address, inputs: {}, tokenHeader: { name: 'Authorization', scheme: 'Bearer' } });
}
