import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { WebhookAlgorithm, WebhookSecretRow } from '../../db/store.ts';
import { Secret } from '../secret.ts';
import type { Digester } from '../vault/digest.ts';

/** Identifies a secret of an endpoint. */
export interface SecretReference {
  environmentId: string;
  endpointId: string;
  secretId: string;
}

/** The beginning of the DER encoding of an Ed25519 private key, before its 32 bytes (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Creates a signing secret of an endpoint. Its value is derived from a secret of the deployment and from the ids in
 * `reference`, so it need not be stored.
 *
 * @returns the row, and the value for the client: `whsec_` and 32 bytes in base64, or an empty text for ED25519
 */
export function mintSigningSecret(
  digester: Digester,
  reference: SecretReference,
  algorithm: WebhookAlgorithm,
  createdAt: number,
): { row: WebhookSecretRow; secret: Secret } {
  const isShared = algorithm === 'HMAC_SHA256';
  const publicKey = isShared ? null : publicText(privateKeyOf(digester, reference));
  const shown = isShared ? `whsec_${hmacKeyOf(digester, reference).toString('base64')}` : '';
  return { row: { id: reference.secretId, publicKey, createdAt, expiresAt: null }, secret: new Secret(shown) };
}

/** Returns the HMAC key of a signing secret, 32 bytes. The client also has this key. */
export function hmacKeyOf(digester: Digester, { environmentId, endpointId, secretId }: SecretReference): Buffer {
  return digester.digest('webhook secret', environmentId, endpointId, secretId);
}

/** Returns the Ed25519 private key of a signing secret. The client only has the public key. */
export function privateKeyOf(digester: Digester, { environmentId, endpointId, secretId }: SecretReference): KeyObject {
  const seed = digester.digest('webhook private key', environmentId, endpointId, secretId);
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

function publicText(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
}

/**
 * Returns the secrets of an endpoint after a new one was added. The newest of the old ones remains valid for at most
 * the overlap, and is removed if the overlap is 0. The others are removed.
 */
export function rotateSecrets(
  secrets: readonly WebhookSecretRow[],
  added: WebhookSecretRow,
  { now, overlapMs }: { now: number; overlapMs: number },
): WebhookSecretRow[] {
  const [newest] = liveSecrets(secrets, now);
  if (!newest || overlapMs === 0) return [added];
  const expiresAt = Math.min(newest.expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs);
  return [added, { ...newest, expiresAt }];
}

export function liveSecrets(secrets: readonly WebhookSecretRow[], now: number): WebhookSecretRow[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
}
