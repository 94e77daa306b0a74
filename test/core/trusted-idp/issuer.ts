import jwt from 'jsonwebtoken';
import { generateSigningKey, jwksDocument, type SigningKey } from '../../../core/tokens/signing-key.ts';
import { discoveryDocument } from '../../../core/trusted-idp/discovery-document.ts';
import type { SignIdentityToken } from '../../../core/trusted-idp/identity-token.ts';
import { type Local, serve } from '../net/local.ts';

/** The service as an issuer, as a cloud reads it over HTTP: discovery document and key set. */
export interface Issuer {
  url: string;
  key: SigningKey;
  sign: SignIdentityToken;
}

export async function startIssuer(): Promise<Issuer> {
  const key = generateSigningKey();
  const local: Local = await serve((request, response) => {
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': discoveryDocument(local.origin, `${local.origin}/jwks`, ['ES256']),
      '/jwks': jwksDocument({ current: key }),
    };
    const document = documents[request.url ?? ''];
    response
      .writeHead(document ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(document ?? {}));
  });
  return { url: local.origin, key, sign: signerWith(key) };
}

export function signerWith(key: SigningKey, kid: string = key.kid): SignIdentityToken {
  return (claims) =>
    jwt.sign(claims, key.privateKey, { algorithm: 'ES256', header: { alg: 'ES256', typ: 'JWT', kid } });
}
