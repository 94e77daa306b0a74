import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { WebhookAlgorithm, WebhookSecretRow } from '../../db/store.ts';
import { Secret } from '../secret.ts';
import type { Digester } from '../vault/digest.ts';

/** Which secret of which endpoint. */
export interface SecretPlace {
  environmentId: string;
  endpointId: string;
  secretId: string;
}

/** The DER encoding of an Ed25519 private key, before its 32 bytes (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * A new signing secret of an endpoint. Its value is derived from a secret of the deployment and its id, so it is not stored.
 *
 * @returns the row, and what the client is shown: `whsec_` and 32 bytes in base64, or an empty text for ED25519
 */
export function mintSigningSecret(
  digester: Digester,
  place: SecretPlace,
  algorithm: WebhookAlgorithm,
  createdAt: number,
): { row: WebhookSecretRow; secret: Secret } {
  const isShared = algorithm === 'HMAC_SHA256';
  const publicKey = isShared ? null : publicText(privateKeyOf(digester, place));
  const shown = isShared ? `whsec_${hmacKeyOf(digester, place).toString('base64')}` : '';
  return { row: { id: place.secretId, publicKey, createdAt, expiresAt: null }, secret: new Secret(shown) };
}

/** The key of an endpoint that shares its secret with the client: 32 bytes. */
export function hmacKeyOf(digester: Digester, { environmentId, endpointId, secretId }: SecretPlace): Buffer {
  return digester.digest('webhook secret', environmentId, endpointId, secretId);
}

/** The private key of an endpoint that is given a public one. */
export function privateKeyOf(digester: Digester, { environmentId, endpointId, secretId }: SecretPlace): KeyObject {
  const seed = digester.digest('webhook private key', environmentId, endpointId, secretId);
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

function publicText(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
}

/**
 * The secrets of an endpoint after a new one was added. The newest of the others stays valid for the overlap, older ones do not.
 *
 * @param overlapMs milliseconds
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
