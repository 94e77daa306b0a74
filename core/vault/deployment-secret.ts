import { createSecretKey, type KeyObject } from 'node:crypto';
import { Secret } from '../secret.ts';
import type { RandomSource } from './aead.ts';

const BYTES = 32;

/** Creates a secret of the deployment: 32 bytes in base64url. Store it encrypted. */
export function mintDeploymentSecret(random: RandomSource): Secret {
  return new Secret(random(BYTES).toString('base64url'));
}

/**
 * Returns the key of a deployment secret, for `createSealedTokens` and `createDigester`.
 *
 * @throws TypeError if the text does not come from `mintDeploymentSecret`
 */
export function deploymentKey(secret: Secret): KeyObject {
  const bytes = Buffer.from(secret.reveal(), 'base64url');
  if (bytes.length !== BYTES) throw new TypeError('The deployment secret must have 32 bytes');
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}
