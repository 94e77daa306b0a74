import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One address in front of several servers. Each new connection goes to the next server that accepts it. */
export interface Balancer {
  origin: string;
  close(): Promise<void>;
}

/**
 * @param ports of the servers, on loopback
 * @param port its own; 0 for any
 */
export async function startBalancer(ports: readonly number[], port = 0): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let next = 0;

  /** @param place of the first server to try */
  function pass(client: Socket, place: number, attempts: number): void {
    const upstream = connect(ports[place % ports.length] as number, '127.0.0.1');
    sockets.add(upstream);
    // `connecting` is false already when a refused connection reports its error.
    let isConnected = false;
    upstream.once('connect', () => {
      isConnected = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => {
      if (!isConnected && attempts > 1) pass(client, place + 1, attempts - 1);
      else client.destroy();
    });
    upstream.on('close', () => {
      sockets.delete(upstream);
      if (isConnected) client.end();
    });
    client.on('close', () => upstream.destroy());
  }

  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    client.on('close', () => sockets.delete(client));
    pass(client, next++, ports.length);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
