import type { AddressInfo } from 'node:net';
import { createServer, connect as open, type Socket } from 'node:net';
import { join } from 'node:path';

/** The network between one server and its database: a TCP proxy in front of a cluster, which can be cut or frozen. */
export interface Network {
  url(database: string): string;
  /** Stops all bytes in both directions without closing a connection, as a partition or a frozen peer does. */
  freeze(): void;
  /** Delivers all bytes that were held back. */
  thaw(): void;
  /** Closes all connections, as the restart of a connection pool does. */
  cut(): void;
  close(): Promise<void>;
}

export async function startNetwork(socket: string): Promise<Network> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = open(join(socket, '.s.PGSQL.5432'));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => to.write(data));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isFrozen) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    freeze() {
      isFrozen = true;
      for (const each of sockets) each.pause();
    },
    thaw() {
      isFrozen = false;
      for (const each of sockets) each.resume();
    },
    cut() {
      for (const each of sockets) each.destroy();
    },
    async close() {
      for (const each of sockets) each.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
