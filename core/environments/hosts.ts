import type { EnvironmentRow } from '../../db/store.ts';

const LOOPBACK = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a host name, in lower case and without a port, is a loopback name. */
export function isLoopbackName(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Returns why a host name, in lower case and without a port, belongs to an environment: it is in the list of the
 * environment, or it is a loopback name and the environment is for development. Returns undefined if it does not belong
 * to the environment.
 */
export function isHostOf(
  { hosts, kind }: Pick<EnvironmentRow, 'hosts' | 'kind'>,
  host: string,
): 'listed' | 'loopback' | undefined {
  if (kind === 'DEVELOPMENT' && isLoopbackName(host)) return 'loopback';
  return hosts.includes(host) ? 'listed' : undefined;
}
