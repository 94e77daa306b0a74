import { RELOAD } from '../../core/budgets.ts';
import { isLoopbackName } from '../../core/environments/hosts.ts';
import { ApiError } from '../../core/errors.ts';
import type { EnvironmentRow, ReadRepositories, Store } from '../../db/store.ts';

export type Environment = EnvironmentRow;

const MAX_HOSTS = 1_000;

/**
 * Finds the environment of a Host header. A development environment also accepts every loopback host name.
 *
 * @param store for looking up hosts
 * @param now milliseconds UTC
 * @returns a function from a Host header to its environment
 * @throws (the returned function) ApiError UNKNOWN_HOST
 */
export function createEnvironmentLookup(
  { read, settingsVersion }: Pick<Store, 'read' | 'settingsVersion'>,
  now: () => number,
): (hostHeader: string | undefined) => Environment | Promise<Environment> {
  /** The cache, by the Host header as it was received. */
  const known = new Map<string, { environment: Environment; version: number; until: number }>();
  const find = async (header: string): Promise<Environment> => {
    const version = settingsVersion();
    const host = header.toLowerCase().replace(/:\d+$/, '');
    const environment = (await read.environments.byHost(host)) ?? (await loopbackEnvironment(read, host));
    if (!environment)
      throw new ApiError('UNKNOWN_HOST', 'No environment has this host name. Use the base URL of an environment.');
    if (known.size >= MAX_HOSTS) known.clear();
    known.set(header, { environment, version, until: now() + RELOAD.environmentMs });
    return environment;
  };
  return (hostHeader = '') => {
    const entry = known.get(hostHeader);
    const isCurrent = entry?.version === settingsVersion() && entry.until > now();
    return isCurrent ? entry.environment : find(hostHeader);
  };
}

async function loopbackEnvironment(read: ReadRepositories, host: string): Promise<Environment | undefined> {
  if (!isLoopbackName(host)) return undefined;
  const environments = await read.environments.list();
  return environments.find((e) => e.kind === 'DEVELOPMENT');
}
