import type { EnvironmentRow } from '../../db/store.ts';

const LOOPBACK = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a host name, in lower case and without a port, is one of the machine itself. */
export function isLoopbackName(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Why a host name, in lower case and without a port, belongs to an environment: by its list, or in development as a loopback name. */
export function isHostOf(
  { hosts, kind }: Pick<EnvironmentRow, 'hosts' | 'kind'>,
  host: string,
): 'listed' | 'loopback' | undefined {
  if (kind === 'DEVELOPMENT' && isLoopbackName(host)) return 'loopback';
  return hosts.includes(host) ? 'listed' : undefined;
}
