import { createHmac, sign } from 'node:crypto';
import type { WebhookEndpointRow } from '../../db/store.ts';
import type { Digester } from '../vault/digest.ts';
import { hmacKeyOf, liveSecrets, privateKeyOf } from './signing-secret.ts';

/** The parts of a message that are signed (Standard Webhooks). */
export interface WebhookMessage {
  id: string;
  /** Milliseconds UTC. */
  at: number;
  body: string;
}

/**
 * Returns the headers of a delivery (Standard Webhooks 1.0, "Webhook metadata"). The signature has one entry for each
 * valid secret of the endpoint: `v1` for HMAC-SHA256, `v1a` for Ed25519.
 */
export function signedHeaders(
  digester: Digester,
  endpoint: Pick<WebhookEndpointRow, 'id' | 'environmentId' | 'algorithm' | 'secrets'>,
  { id, at, body }: WebhookMessage,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(at / 1000));
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = liveSecrets(endpoint.secrets, at).map(({ id: secretId }) => {
    const place = { environmentId: endpoint.environmentId, endpointId: endpoint.id, secretId };
    return endpoint.algorithm === 'HMAC_SHA256'
      ? hmacSignature(hmacKeyOf(digester, place), content)
      : `v1a,${sign(null, content, privateKeyOf(digester, place)).toString('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** The entry `v1` of a signature. @param content `<id>.<timestamp>.<body>` */
export function hmacSignature(key: Buffer, content: Buffer): string {
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
