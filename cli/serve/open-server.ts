import { programVersion } from '../../core/program-version.ts';
import type { Config, Secrets } from '../../http/config/config.ts';
import { databaseName } from '../../http/config/config.ts';
import { bindPorts } from '../../http/connections/bound-server.ts';
import { type RunningServer, startServer } from '../../http/server.ts';
import { createApplication } from '../../wiring/create-application.ts';
import type { FirstStart } from '../../wiring/keys.ts';
import type { Parts } from '../../wiring/parts.ts';
import { endOnUnhandledFault } from '../last-resort.ts';
import { lowerBackgroundPriority } from './background-threads.ts';
import { endOnce } from './endings.ts';

/** The maximum number of environments in the log line of a start. */
const ENVIRONMENTS_SHOWN = 20;

export interface Settings {
  config: Config;
  secrets: Secrets;
}

export interface Prepared {
  parts: Parts;
  firstStart: FirstStart;
  /** Stops the server and ends the process. @param reason for the log */
  end(reason: object): void;
}

export interface OpenedServer extends Prepared {
  server: RunningServer;
}

/**
 * Opens the server of this process.
 *
 * @param bindsFirst whether the port is bound before the database is used, so that a start which cannot bind it changes
 * nothing
 * @param prepared is called before the server reports that it listens, because the process may be stopped right after
 * that report
 * @throws ConfigError, VaultError, StorageError with a message for the operator; everything that was opened is closed
 */
export async function openServer(
  { config, secrets }: Settings,
  { bindsFirst }: { bindsFirst: boolean },
  prepared: (prepared: Prepared) => void,
): Promise<OpenedServer> {
  const ports = bindsFirst ? await bindPorts(config) : undefined;
  const { parts, firstStart } = await createApplication(config, secrets).catch((error) => {
    ports?.close();
    throw error;
  });
  let server: RunningServer | undefined;
  const stop = async () => (server ? server.stop() : parts.close());
  endOnUnhandledFault(parts.log, stop);
  const end = endOnce(parts.log, stop);
  prepared({ parts, firstStart, end });
  lowerBackgroundPriority();
  server = await startServer(parts, ports).catch(async (error) => {
    ports?.close();
    await parts.close();
    throw error;
  });
  return { parts, firstStart, end, server };
}

/**
 * Returns the facts that an operator checks after a start: the version, the data, the key, the id of this process among
 * those that use the data, and the addresses.
 */
export async function describeServer({ config, store, vault, instance }: Parts, secrets: Secrets) {
  const environments = await store.read.environments.list();
  return {
    base_url: config.baseUrl,
    version: programVersion(),
    database: databaseName(config, secrets),
    key_id: vault.activeKeyId,
    instance_id: instance.id,
    environments: environments.map(({ kind, baseUrl }) => `${kind} ${baseUrl}`).slice(0, ENVIRONMENTS_SHOWN),
  };
}
