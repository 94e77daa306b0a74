import { dirname } from 'node:path';
import { openDeploymentKeys } from '../core/keys/deployment.ts';
import { ensureEnvironment, ensureFirstClient } from '../core/keys/first-start.ts';
import { openKeySource } from '../core/keys/key-source.ts';
import { createRotationStore } from '../core/keys/rotation-store.ts';
import type { Secret } from '../core/secret.ts';
import type { SigningKeys } from '../core/tokens/signing-key.ts';
import { createDigester, type Digester } from '../core/vault/digest.ts';
import { verifyKeyChecks } from '../core/vault/key-check.ts';
import type { KeyReload } from '../core/vault/key-source.ts';
import { createSealedTokens, type SealedTokens } from '../core/vault/sealed-token.ts';
import { Vault } from '../core/vault/vault.ts';
import { makeDirectory } from '../db/directory.ts';
import { type EnvironmentRow, StorageError, type Store } from '../db/store.ts';
import { namingSetting } from '../http/config/paths.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

const MAX_REPLY_CHARS = 2 ** 24;

export interface Keys {
  /** Returns the ids of the key-encryption keys, the active one first. */
  keyIds(): string[];
  readonly vault: Vault;
  readonly digester: Digester;
  readonly signingKeys: SigningKeys;
  /** Encrypts short texts, such as page tokens. */
  readonly sealedTokens: SealedTokens;
  /** Encrypts longer texts: stored responses, sessions, flows of links. */
  readonly sealedData: SealedTokens;
}

/**
 * The key file and the API client that this start has created, to be shown to the operator once (each is null if this
 * start has not created it), and the environment, which may have existed before.
 */
export interface FirstStart {
  keyFile: string | null;
  client: { id: string; secret: Secret } | null;
  environment: EnvironmentRow;
}

/**
 * Opens the key-encryption keys and the deployment's secrets. If they are missing, they are created together with an
 * environment and an API client: by a server that uses the database alone, or by `valetkey init`.
 *
 * @param creates whether to create them
 * @throws ConfigError, VaultError, StorageError with a message for the operator
 */
export async function openKeys(
  { config, secrets, choose }: Setup,
  parts: Pick<Runtime, 'now' | 'random' | 'newId' | 'log'> & Pick<Storage, 'store'>,
  creates: boolean,
): Promise<Keys & { firstStart: FirstStart }> {
  const { now, random, log, store } = parts;
  if (!creates && (await isUnused(store))) throw notInitialised();
  const environments = await store.read.environments.list();
  const isProduction = environments.some((environment) => environment.kind === 'PRODUCTION');
  const mayCreate = creates && !isProduction && (await isUnused(store));
  const report = ({ outcome }: KeyReload) => log.info({ outcome }, 'key file changed');
  const keys = await namingSetting(config.namedBy.keys, () => {
    if (mayCreate) makeDirectory(dirname(config.keysFile));
    return openKeySource({ keys: secrets.keys, keysFile: config.keysFile, mayCreate }, parts, report);
  });
  await verifyKeyChecks(keys.source.current(), createRotationStore(store), now());
  const vault = choose('vault', () => new Vault(keys.source, random));
  const deployment = await openDeploymentKeys(store, vault, parts);
  const digester = createDigester(deployment.digest);
  const made = creates ? await ensureFirst() : { environment: environments[0], client: null };
  if (!made.environment) throw notInitialised();
  return {
    keyIds: () => keys.source.current().ids,
    vault,
    digester,
    signingKeys: deployment.signing,
    sealedTokens: createSealedTokens(deployment.sealing, now, random),
    sealedData: createSealedTokens(deployment.sealing, now, random, MAX_REPLY_CHARS),
    firstStart: { keyFile: keys.created, client: made.client, environment: made.environment },
  };

  async function ensureFirst() {
    const environment = await ensureEnvironment(store, parts, config.baseUrl);
    const client = await ensureFirstClient(store, { ...parts, digester }, environment, secrets.firstClient);
    return { environment, client };
  }
}

function notInitialised(): StorageError {
  return new StorageError('NOT_INITIALISED', 'the database is empty: run `valetkey init` once, then start the servers');
}

/** Whether nothing has been encrypted yet. Only then may a missing key be created. */
async function isUnused(store: Store): Promise<boolean> {
  return (await store.read.deploymentSecrets.list()).length === 0;
}
