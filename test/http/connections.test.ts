import { createServer, IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { capPerAddress } from '../../http/connections/address-cap.ts';
import { watchConnections } from '../../http/connections/connection-watch.ts';
import { oneAtATime } from '../../http/connections/one-at-a-time.ts';

const BIG = Buffer.alloc(8 * 1024 * 1024, 'x');
const PATIENT = { firstByteMs: 60_000, stalledMs: 60_000, queuedBytes: BIG.length * 100, watchEveryMs: 5 };

/** Resolves when a condition becomes true. The condition is checked in each turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('connections of clients (S2)', () => {
  let server: Server;
  let sockets: Socket[];
  let handled: string[];
  let failures: unknown[];
  const failed = (error: unknown) => void failures.push(error);

  beforeEach(() => {
    failures = [];
    sockets = [];
    handled = [];
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(failures).to.deep.equal([]);
  });

  async function listen(listener: Parameters<typeof oneAtATime>[0] = () => {}, maxWaiting = 4): Promise<void> {
    server = createServer(
      oneAtATime((req, res) => {
        handled.push(req.url ?? '');
        listener(req, res);
      }, maxWaiting),
    );
    await new Promise<void>((resolve) => server.listen(0, resolve));
  }

  /** Resolves when the server has no open connection. */
  async function emptied(): Promise<void> {
    let count = 1;
    await until(() => {
      server.getConnections((_error, found) => {
        count = found;
      });
      return count === 0;
    });
  }

  /** Opens a client connection that is read only on demand. */
  async function open(localAddress = '127.0.0.1') {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    let received = '';
    let isClosed = false;
    socket
      .on('error', () => {})
      .on('close', () => {
        isClosed = true;
      });
    socket.pause();
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    return {
      send: (...paths: string[]) =>
        socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')),
      write: (text: string) => socket.write(text),
      read: () => socket.on('data', (chunk) => (received += chunk.toString('latin1'))).resume(),
      received: () => received,
      isClosed: () => isClosed,
    };
  }

  describe('F5: that send requests without waiting', () => {
    it('receive their responses one after the other, in order', async () => {
      let active = 0;
      let most = 0;
      await listen((req, res) => {
        most = Math.max(most, ++active);
        setImmediate(() => {
          active--;
          res.end(`<${req.url}>`);
        });
      });
      const client = await open();
      client.read();
      client.send('/1', '/2', '/3', '/4', '/5');
      await until(() => client.received().includes('</5>'));
      expect(client.received().match(/<\/\d>/g)).to.deep.equal(['</1>', '</2>', '</3>', '</4>', '</5>']);
      expect(most).to.equal(1);
      client.send('/6');
      await until(() => client.received().includes('</6>'));
    });

    it('are not served while they do not read, and continue when they do', async () => {
      await listen((_req, res) => res.end(BIG));
      const client = await open();
      client.send('/1', '/2', '/3');
      await until(() => handled.length === 1);
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(handled).to.deep.equal(['/1']);
      client.read();
      await until(() => handled.length === 3);
    });

    it('are not read further while requests wait', async () => {
      let release = (): void => {};
      await listen((req, res) => {
        if (req.url === '/1') release = () => res.end();
        else res.end();
      });
      const client = await open();
      client.read();
      client.send('/1', '/2');
      await until(() => handled.length === 1);
      // The operating system buffers these bytes, so the connection does not count as waiting.
      for (let count = 3; count < 20; count++) {
        client.send(`/${count}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(client.isClosed()).to.equal(false);
      release();
      await until(() => handled.length >= 2);
    });

    it('are closed when too many wait, and other clients are served', async () => {
      await listen((req, res) => {
        if (req.url === '/well') res.end('well');
      });
      const [greedy, other] = [await open(), await open()];
      greedy.read();
      greedy.send(...Array.from({ length: 6 }, (_, at) => `/${at}`));
      await until(greedy.isClosed);
      other.read();
      other.send('/well');
      await until(() => other.received().endsWith('well'));
      expect(handled).to.deep.equal(['/0', '/well']);
    });

    it('create no objects for the remaining requests of a large piece', async () => {
      let made = 0;
      class Counted extends IncomingMessage {
        constructor(socket: Socket) {
          super(socket);
          made++;
        }
      }
      server = createServer(
        { IncomingMessage: Counted },
        oneAtATime(() => {}, 4),
      );
      await new Promise<void>((resolve) => server.listen(0, resolve));
      const client = await open();
      client.read();
      client.send(...Array.from({ length: 500 }, () => '/'));
      await until(client.isClosed);
      // The first request is served, and four wait. The sixth closes the connection, and the seventh ends the parsing.
      expect(made).to.be.within(6, 7);
    });

    it('may send bodies with their requests', async () => {
      const bodies: string[] = [];
      await listen(async (req, res) => {
        bodies.push(Buffer.concat(await req.toArray()).toString());
        res.end('taken');
      });
      const client = await open();
      client.read();
      const post = (body: string) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const large = 'x'.repeat(300_000);
      client.write(post('one') + post(large) + post('three'));
      await until(() => (client.received().match(/taken/g) ?? []).length === 3);
      expect(bodies).to.deep.equal(['one', large, 'three']);
    });

    it('have no request served once they are closed', async () => {
      let release = (): void => {};
      await listen((_req, res) => {
        release = () => res.end();
      });
      const client = await open();
      client.send('/1', '/2');
      await until(() => handled.length === 1);
      for (const socket of sockets) socket.destroy();
      release();
      await new Promise((resolve) => server.close(resolve));
      expect(handled).to.deep.equal(['/1']);
    });
  });

  describe('F5: that do not read', () => {
    it('are closed when they read nothing', async () => {
      await listen((_req, res) => res.end(BIG));
      watchConnections(server, { ...PATIENT, stalledMs: 20 }, failed);
      const client = await open();
      client.send('/');
      await until(() => handled.length === 1);
      await emptied();
    });

    it('are kept while they read their response slowly', async () => {
      await listen((_req, res) => res.end(BIG));
      const watch = watchConnections(server, { ...PATIENT, stalledMs: 200 }, failed);
      const client = await open();
      client.read();
      client.send('/');
      await until(() => client.received().length > BIG.length);
      client.send('/');
      await until(() => client.received().length > 2 * BIG.length);
      await until(() => watch.queuedBytes === 0);
      expect(client.isClosed()).to.equal(false);
    });

    it('are closed from the oldest on when the total of waiting bytes exceeds the limit', async () => {
      await listen((_req, res) => res.end(BIG));
      let now = 0;
      const watch = watchConnections(server, { ...PATIENT, queuedBytes: 2.5 * BIG.length }, failed, () => now++);
      const clients: Awaited<ReturnType<typeof open>>[] = [];
      for (let count = 0; count < 4; count++) {
        const client = await open();
        clients.push(client);
        client.send('/');
        await until(() => handled.length === count + 1 && watch.queuedBytes > 0);
        // Waits until the server has checked its connections again, before the next client connects.
        const seen = now;
        await until(() => now > seen + clients.length);
      }
      await until(() => watch.queuedBytes <= 2.5 * BIG.length && watch.open < 4);
      for (const client of clients) client.read();
      await until(() => clients.slice(0, 1).every(({ isClosed }) => isClosed()));
      const last = clients.at(-1);
      await until(() => (last?.received().length ?? 0) > BIG.length);
    });
  });

  describe('L4: that send nothing', () => {
    it('are closed when the first byte does not arrive, but not while a request is served', async () => {
      let release = (): void => {};
      await listen((_req, res) => {
        release = () => res.end('well');
      });
      let now = 0;
      watchConnections(server, { ...PATIENT, firstByteMs: 1_000 }, failed, () => now);
      const [silent, busy] = [await open(), await open()];
      silent.read();
      busy.read();
      busy.send('/');
      await until(() => handled.length === 1);
      now = 1_000;
      await until(silent.isClosed);
      release();
      await until(() => busy.received().endsWith('well'));
    });
  });

  describe('L4: of one address', () => {
    const TRUST_NOBODY = () => false;

    it('are limited, and those of another address are served', async () => {
      await listen((_req, res) => res.end('well'));
      const cap = capPerAddress(server, 2, TRUST_NOBODY);
      const [first, second, third] = [await open(), await open(), await open()];
      for (const client of [first, second, third]) client.read();
      await until(third.isClosed);
      const other = await open('127.0.0.2');
      for (const client of [first, second, other]) {
        client.read();
        client.send('/');
        await until(() => client.received().endsWith('well'));
      }
      expect([first.isClosed(), second.isClosed(), cap.refused]).to.deep.equal([false, false, 1]);
    });

    it('are counted while they are open', async () => {
      await listen((_req, res) => res.end('well'));
      capPerAddress(server, 1, TRUST_NOBODY);
      for (let count = 0; count < 5; count++) {
        const client = await open();
        client.read();
        client.send('/');
        await until(() => client.received().endsWith('well'));
        sockets.pop()?.destroy();
        await emptied();
      }
      expect(handled).to.have.length(5);
    });

    it('are not limited for a proxy', async () => {
      await listen((_req, res) => res.end('well'));
      const cap = capPerAddress(server, 1, (address) => address?.endsWith('127.0.0.2') === true);
      const clients = [await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2')];
      for (const client of clients) {
        client.read();
        client.send('/');
        await until(() => client.received().endsWith('well'));
      }
      expect(cap.refused).to.equal(0);
    });
  });
});
