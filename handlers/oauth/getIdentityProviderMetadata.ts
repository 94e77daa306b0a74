import { discoveryDocument } from '../../core/trusted-idp/discovery-document.ts';
import type { Handler } from '../../http/contract.ts';

/**
 * The issuer is exactly the base URL of the environment, because a cloud compares it with the issuer in identity
 * tokens.
 */
export const getIdentityProviderMetadata: Handler<'getIdentityProviderMetadata'> = (call, reply) => {
  const { baseUrl } = call.environment;
  const document = discoveryDocument(baseUrl, `${baseUrl}/.well-known/jwks.json`, ['ES256']);
  return reply(200, document, { 'cache-control': 'public, max-age=300' });
};
