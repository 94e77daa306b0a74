/** Host names that always mean loopback, in the normalized form of the URL parser. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a host name always means the local machine, regardless of the resolver. */
export function isOnThisMachine({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * Whether an address is plain http on this machine. The egress policy of the environment decides whether it may be
 * called.
 */
function isLocalHttp(url: URL): boolean {
  return url.protocol === 'http:' && isOnThisMachine(url);
}

/** Whether only the receiver can read requests to an address, because they use https or do not leave the machine. */
export function isSecureAddress(url: URL): boolean {
  return url.protocol === 'https:' || isLocalHttp(url);
}

/**
 * Whether a server may direct requests to another address. A server reached over https may only name https addresses,
 * so that no server on the internet can direct requests to programs on this machine.
 */
export function mayReferTo(asked: URL, named: URL): boolean {
  return named.protocol === 'https:' || (isLocalHttp(asked) && isLocalHttp(named));
}
