import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as open, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOf } from '../../../scripts/postgres/cluster.ts';

/** When a connection is cut: before the server receives a text of the client, or after. */
export type Cut = 'before' | 'after';

/** A socket in front of the test server, which cuts connections. */
export interface CuttingProxy {
  url(database: string): string;
  /** Cuts the next connection that sends this text: before the server receives it, or after, without the reply. */
  cutAt(text: string, cut: Cut): void;
  close(): Promise<void>;
}

const NAME = '.s.PGSQL.5432';

export async function startProxy(socket: string): Promise<CuttingProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-proxy-'));
  const sockets = new Set<Socket>();
  let armed: { text: string; cut: Cut } | undefined;
  const server = createServer((client) => {
    const upstream = open(join(socket, NAME));
    for (const each of [client, upstream]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => {
        sockets.delete(each);
        client.destroy();
        upstream.end();
      });
    }
    upstream.on('data', (data) => client.write(data));
    client.on('data', (data) => {
      if (!armed || !data.includes(armed.text)) return void upstream.write(data);
      const { cut } = armed;
      armed = undefined;
      client.destroy();
      if (cut === 'after') upstream.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(directory, NAME), resolve));
  return {
    url: (database) => addressOf(directory, database),
    cutAt(text, cut) {
      armed = { text, cut };
    },
    async close() {
      for (const each of sockets) each.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
