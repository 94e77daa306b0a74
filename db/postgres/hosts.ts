import { StorageError } from '../errors.ts';

/**
 * Splits an address with several hosts into one address for each host, in the same order. The format is that of libpq:
 * `postgres://user:password@one:5432,two:5433/database`, or `?host=/socket/one,/socket/two`.
 *
 * @throws StorageError `DATABASE_URL` if the address is invalid, or asks for standbys
 */
export function hostsOf(location: string): string[] {
  const parts = /^(postgres(?:ql)?:\/\/)(?:([^@/?#]*)@)?([^/?#]*)(\/[^?#]*)?(?:\?(.*))?$/.exec(location);
  if (!parts) throw invalid('it must be postgres://user@host/database');
  const [, scheme, user, authority = '', path = '', query = ''] = parts;
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get('target_session_attrs') ?? 'read-write';
  if (wanted !== 'read-write' && wanted !== 'primary') {
    throw invalid('target_session_attrs must be read-write or primary, because Valetkey writes to the database');
  }
  parameters.delete('target_session_attrs');
  const sockets = parameters.get('host')?.split(',') ?? [];
  const ports = parameters.get('port')?.split(',') ?? [];
  const of = (host: string, place: number, count: number): string => {
    const own = new URLSearchParams(parameters);
    if (sockets.length > 0) own.set('host', sockets[place] as string);
    if (ports.length > 0) own.set('port', (ports.length === count ? ports[place] : ports[0]) as string);
    const rest = own.size > 0 ? `?${own}` : '';
    return `${scheme}${user === undefined ? '' : `${user}@`}${host}${path}${rest}`;
  };
  const hosts = authority.split(',');
  const places = Math.max(sockets.length, hosts.length);
  if (ports.length > 1 && ports.length !== places)
    throw invalid(`port must have one value, or one for each of ${places} hosts`);
  if (sockets.length > 0)
    return sockets.map((_, place) => of(hosts[place] ?? (hosts[0] as string), place, sockets.length));
  return hosts.map((host, place) => of(host, place, hosts.length));
}

/**
 * Returns a function that opens a session at the first host that accepts it, beginning with the one that was used last.
 *
 * @param open opens a session at one host
 * @returns a function that rejects with the StorageError of the first host that it tried, if no host accepts the
 * session
 */
export function createHosts<S>(location: string, open: (address: string) => Promise<S>): () => Promise<S> {
  const addresses = hostsOf(location);
  let last = 0;
  return async () => {
    let failure: unknown;
    for (let step = 0; step < addresses.length; step++) {
      const place = (last + step) % addresses.length;
      try {
        const session = await open(addresses[place] as string);
        last = place;
        return session;
      } catch (error) {
        // The first error is thrown, because a wrong password or a missing database makes all hosts fail in the same
        // way.
        failure ??= error;
      }
    }
    throw failure;
  };
}

function invalid(reason: string): StorageError {
  return new StorageError('DATABASE_URL', `DATABASE_URL is invalid: ${reason}`);
}
