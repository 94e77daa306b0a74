import { connect, type Socket } from 'node:net';

/** A TCP connection to a server, for requests that no HTTP client would send. */
export interface RawConnection {
  socket: Socket;
  send(text: string | Buffer): void;
  /** Returns everything that was received so far. */
  received(): string;
  /** Resolves when the text has been received; rejects if the connection ends before. */
  until(text: string): Promise<string>;
  /** Resolves with everything that was received once the server has closed the connection. */
  closed: Promise<string>;
  destroy(): void;
}

export async function openRaw(origin: string): Promise<RawConnection> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  const waiting = new Set<() => void>();
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received += chunk;
    for (const look of waiting) look();
  });
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return {
    socket,
    send: (text) => socket.write(text),
    received: () => received,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!received.includes(text)) return;
          waiting.delete(look);
          resolve(received);
        };
        waiting.add(look);
        closed.then(() => reject(new Error(`closed before ${JSON.stringify(text)}: ${received}`)));
        look();
      }),
    closed,
    destroy: () => socket.destroy(),
  };
}
