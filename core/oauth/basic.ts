import type { BasicStyle } from '../connectors/oauth-deviations.ts';
import type { Secret } from '../secret.ts';

/**
 * Returns the value of the Authorization header that authenticates a client (RFC 6749 §2.3.1). The client id and the
 * secret are form-encoded. Letters, digits and `* - . _` are not changed by this encoding, so most ids and secrets also
 * work at servers that do not decode them.
 *
 * @param style `raw`: without encoding, for servers that do not decode (RFC 7617 §2); `secret_as_user`: the secret is
 * the user name, and the password is empty
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
