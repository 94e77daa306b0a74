import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { type TokenServer, tokenServerAt } from '../../../core/oauth/server.ts';

/** The token endpoint of a config whose addresses are as they are written. */
export function tokenServerOf(
  config: OAuthConfig,
  address: (template: string) => string = (template) => template,
): TokenServer {
  return tokenServerAt({ config, address, inputs: {}, tokenHeader: { name: 'Authorization', scheme: 'Bearer' } });
}
