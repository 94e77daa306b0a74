/** Loopback by its very name, as the URL parser writes it. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a host name always means the local machine, regardless of the resolver. */
export function isOnThisMachine({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/** Plain http to a program on the machine itself. Whether it may be called is for the egress rules of the environment to say. */
export function isLocalHttp(url: URL): boolean {
  return url.protocol === 'http:' && isOnThisMachine(url);
}

/** Whether what is sent to an address can be read by its receiver alone: over https, or by not leaving the machine. */
export function isSecureAddress(url: URL): boolean {
  return url.protocol === 'https:' || isLocalHttp(url);
}

/**
 * Whether a server may send us to another address: one that was asked over https names https addresses only, so that no server of the
 * internet can lead requests to programs on this machine.
 */
export function mayName(asked: URL, named: URL): boolean {
  return named.protocol === 'https:' || (isLocalHttp(asked) && isLocalHttp(named));
}
