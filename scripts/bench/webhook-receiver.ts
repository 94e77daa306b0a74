import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** An endpoint for webhooks. */
export interface Receiver {
  port: number;
  received: number;
  /** Called at each request. */
  onReceived(): void;
  /** Responds from now on, also to the requests that wait. */
  respond(): void;
  /** Leaves requests without a response again. */
  hold(): void;
  close(): void;
}

/** Starts the endpoint, which leaves requests without a response until `respond` is called. */
export async function startReceiver(): Promise<Receiver> {
  let isResponding = false;
  const waiting: ServerResponse[] = [];
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      receiver.received++;
      receiver.onReceived();
      if (isResponding) res.writeHead(204).end();
      else waiting.push(res);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver = {
    port: (server.address() as { port: number }).port,
    received: 0,
    onReceived() {},
    respond() {
      isResponding = true;
      for (const res of waiting.splice(0)) res.writeHead(204).end();
    },
    hold() {
      isResponding = false;
    },
    close: () => server.close().closeAllConnections(),
  };
  return receiver;
}
