import type { Server } from 'node:http';
import { clientOf } from '../../core/net/client-address.ts';
import type { ClientSocket } from './client-socket.ts';

export interface AddressCap {
  /** How many connections were rejected so far. */
  readonly refused: number;
}

/**
 * Rejects connections of a client address that already has too many, so that one address cannot take all connections.
 *
 * @param isTrusted whether an address is that of a proxy. The limit does not apply to it, because many clients share
 * it.
 */
export function capPerAddress(
  server: Server,
  maxPerAddress: number,
  isTrusted: (address: string | undefined) => boolean,
): AddressCap {
  const open = new Map<string, number>();
  let refused = 0;
  server.on('connection', (socket: ClientSocket) => {
    const { remoteAddress } = socket;
    if (isTrusted(remoteAddress)) return;
    const client = clientOf(remoteAddress);
    const count = open.get(client) ?? 0;
    if (count >= maxPerAddress) {
      refused++;
      socket.destroy();
      return;
    }
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
  });
  return {
    get refused() {
      return refused;
    },
  };
}
