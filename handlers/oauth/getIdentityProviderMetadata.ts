import { discoveryDocument } from '../../core/trusted-idp/discovery-document.ts';
import type { Handler } from '../../http/contract.ts';

/** The issuer is the base URL of the environment, character for character: a cloud compares it with that of our tokens. */
export const getIdentityProviderMetadata: Handler<'getIdentityProviderMetadata'> = (call, reply) => {
  const { baseUrl } = call.environment;
  const document = discoveryDocument(baseUrl, `${baseUrl}/.well-known/jwks.json`, ['ES256']);
  return reply(200, document, { 'cache-control': 'public, max-age=300' });
};
