import { createSecretKey, type KeyObject } from 'node:crypto';
import { Secret } from '../secret.ts';
import type { RandomSource } from './aead.ts';

const BYTES = 32;

/** A fresh secret of the deployment, to be stored sealed: base64url of 32 bytes. */
export function mintDeploymentSecret(random: RandomSource): Secret {
  return new Secret(random(BYTES).toString('base64url'));
}

/**
 * The key that a deployment secret stands for, as `createSealedTokens` and `createDigester` take it.
 *
 * @throws TypeError for anything but what `mintDeploymentSecret` makes
 */
export function deploymentKey(secret: Secret): KeyObject {
  const bytes = Buffer.from(secret.reveal(), 'base64url');
  if (bytes.length !== BYTES) throw new TypeError('The deployment secret must have 32 bytes');
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}
