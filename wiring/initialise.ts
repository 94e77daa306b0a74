import { engineFor } from '../db/open-store.ts';
import { type Config, databaseLocation, type Secrets } from '../http/config/config.ts';
import { type FirstStart, openKeys } from './keys.ts';
import { choosing, type Overrides } from './overrides.ts';
import { createRuntime } from './runtime.ts';
import { openStorage } from './storage.ts';

/**
 * Creates everything that servers need in an empty database: the deployment's secrets, an environment and its first API
 * client, and a key-encryption key if there is none. Existing data stays unchanged, with two exceptions: the base URL
 * of the first environment, if it is for development, and the secret of the configured client are set to the configured
 * values. If several processes do this for one database, they run one after the other.
 *
 * @throws ConfigError, VaultError, StorageError with a message for the operator
 */
export async function initialise(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<FirstStart> {
  const location = databaseLocation(config, secrets);
  const engine = await engineFor(location);
  return await engine.withSetupLock(location, () => create(config, secrets, overrides));
}

async function create(config: Config, secrets: Secrets, overrides: Overrides): Promise<FirstStart> {
  await using closing = new AsyncDisposableStack();
  const setup = { config, secrets, choose: choosing(overrides), closing };
  const runtime = createRuntime(setup);
  const storage = await openStorage(setup, runtime);
  const { firstStart } = await openKeys(setup, { ...runtime, ...storage }, true);
  return firstStart;
}
