import type { KeyObject } from 'node:crypto';
import type { DeploymentSecretRow, Store } from '../../db/store.ts';
import type { Secret } from '../secret.ts';
import type { SigningKeys } from '../tokens/signing-key.ts';
import { exportSigningKey, generateSigningKey, importSigningKey } from '../tokens/signing-key.ts';
import type { ValueContext } from '../vault/context.ts';
import { deploymentKey, mintDeploymentSecret } from '../vault/deployment-secret.ts';
import type { Vault } from '../vault/vault.ts';

/** The secrets that all environments of the deployment share. */
export interface DeploymentKeys {
  /** Signs access tokens. */
  signing: SigningKeys;
  /** Creates the keyed digests of client secrets, idempotency keys and other values (`createDigester`). */
  digest: KeyObject;
  /** Encrypts page tokens, stored responses and other data with an expiry (`createSealedTokens`). */
  sealing: KeyObject;
}

/** Returns the context that a deployment secret is bound to. */
export function deploymentSecretContext(name: string): ValueContext {
  return { table: 'deployment_secrets', environmentId: '', recordId: name, field: 'sealed' };
}

/**
 * Decrypts the deployment's secrets; creates those that are not stored yet, as at the first start.
 *
 * @throws VaultError if one of them cannot be decrypted
 */
export async function openDeploymentKeys(
  store: Store,
  vault: Vault,
  tools: { now(): number; random(size: number): Buffer },
): Promise<DeploymentKeys> {
  const secret = async (name: string, mint: () => Secret): Promise<Secret> => {
    const stored = (await store.read.deploymentSecrets.get(name)) ?? (await insert(name, mint()));
    return vault.openValue(deploymentSecretContext(name), stored.sealed);
  };
  const insert = (name: string, value: Secret): Promise<DeploymentSecretRow> => {
    const { kekId, blob } = vault.sealValue(deploymentSecretContext(name), value);
    return store.write((tx) =>
      tx.deploymentSecrets.insertIfAbsent({ name, kekId, sealed: blob, createdAt: tools.now() }),
    );
  };
  const mint = () => mintDeploymentSecret(tools.random);
  return {
    signing: { current: importSigningKey(await secret('signing-key', () => exportSigningKey(generateSigningKey()))) },
    digest: deploymentKey(await secret('digest-key', mint)),
    sealing: deploymentKey(await secret('sealing-key', mint)),
  };
}
