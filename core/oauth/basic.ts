import type { BasicStyle } from '../connectors/oauth-deviations.ts';
import type { Secret } from '../secret.ts';

/**
 * The value of Authorization by which a client shows its secret (RFC 6749 §2.3.1). Both parts are encoded as in forms, which
 * leaves letters, digits and `* - . _` alone: so the many servers that do not decode them understand the usual ids and secrets too.
 *
 * @param style `raw`: nothing is encoded, for servers that decode nothing (RFC 7617 §2); `secret_as_user`: the secret is the
 *   user name, and there is no password
 */
export function basicValue(clientId: string, secret: Secret, style?: BasicStyle): string {
  return `Basic ${Buffer.from(pair(clientId, secret.reveal(), style), 'utf8').toString('base64')}`;
}

function pair(clientId: string, secret: string, style: BasicStyle | undefined): string {
  if (style === 'secret_as_user') return `${secret}:`;
  return style === 'raw' ? `${clientId}:${secret}` : `${formEncoded(clientId)}:${formEncoded(secret)}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
