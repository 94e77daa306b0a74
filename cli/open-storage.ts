import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { openKeySource } from '../core/keys/key-source.ts';
import { createRotationStore } from '../core/keys/rotation-store.ts';
import { Vault } from '../core/vault/vault.ts';
import { openStore } from '../db/open-store.ts';
import type { Config, Secrets } from '../http/config/config.ts';
import { databaseLocation, readConfig } from '../http/config/config.ts';
import { UsageError } from './usage-error.ts';

/**
 * Opens the existing database of a deployment; a server may be running. @throws UsageError if the database is a file
 * that does not exist
 */
export async function openStorage() {
  const { config, secrets } = readConfig(process.env);
  if (secrets.databaseUrl === null && !existsSync(config.databaseFile)) {
    throw new UsageError(
      `there is no database at ${config.databaseFile}; set ${config.namedBy.database}, or start the server first`,
    );
  }
  const { connections } = config;
  const store = await openStore({ location: databaseLocation(config, secrets), now: Date.now, connections });
  return { config, secrets, store, rotationStore: createRotationStore(store) };
}

/** Opens the keys of the deployment and a vault that uses them. */
export function openVault(config: Config, secrets: Secrets) {
  const tools = { now: Date.now, random: randomBytes };
  const { source } = openKeySource({ keys: secrets.keys, keysFile: config.keysFile, mayCreate: false }, tools);
  return { source, vault: new Vault(source, randomBytes) };
}
