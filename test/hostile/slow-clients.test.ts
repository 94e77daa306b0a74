import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { request } from 'undici';
import { SERVER } from '../../core/budgets.ts';
import { freePort } from '../../scripts/demo/process.ts';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** `make hostile` has more clients, and waits until the server has closed all of them. */
const IS_LONG = process.env['HOSTILE'] === 'all';
const CLIENTS = IS_LONG ? 100 : 20;
const PER_ADDRESS = 150;
const MB = 1024 * 1024;
const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const FORM = 'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

/** How a client misbehaves on its connection. */
type Manner = (socket: Socket) => void;

const MANNERS: Record<string, Manner> = {
  'say nothing': () => {},
  'send their headers a byte at a time': (socket) =>
    drip(socket, `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(9_000)}`),
  'never end their headers': (socket) => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n'),
  'send their body a byte at a time': (socket) =>
    drip(socket, 'a'.repeat(9_000), `${FORM}Content-Length: 9000\r\n\r\n`),
  'never end their body': (socket) => socket.write(`${FORM}Content-Length: 1000\r\n\r\ngrant_type=`),
  'never end a chunk': (socket) => socket.write(`${FORM}Transfer-Encoding: chunked\r\n\r\n5\r\nab`),
  'do not read what they asked for': (socket) => socket.write(GET('/openapi.json').repeat(SERVER.pipelined)),
  'send more than they may without reading': (socket) => socket.write(GET('/openapi.json').repeat(100)),
  'send requests for ever': (socket) => {
    const flood = () => {
      while (socket.writable && socket.write(GET('/docs').repeat(1_000)));
    };
    socket.on('drain', flood);
    flood();
  },
  'say what is no HTTP': (socket) => socket.write(Buffer.alloc(1_000, 0xff)),
  'leave in the middle': (socket) => {
    socket.write(`${FORM}Content-Length: 1000\r\n\r\ngrant_type=`, () => socket.resetAndDestroy());
  },
  'close their half and wait': (socket) => socket.end(`${FORM}Content-Length: 1000\r\n\r\ngrant_type=`),
};

function drip(socket: Socket, text: string, first = ''): void {
  socket.write(first);
  let at = 0;
  const timer = setInterval(() => {
    if (socket.writable && at < text.length) socket.write(text[at++] ?? '');
    else clearInterval(timer);
  }, 50);
}

describe('clients that are slow or do not read (S2)', () => {
  let server: ChildServer;
  let folder: ReturnType<typeof tempDir>;
  let metricsPort: number;
  let sockets: Socket[];

  before(async () => {
    folder = tempDir();
    metricsPort = await freePort();
    server = await startChildServer({
      DATA_DIR: folder.path,
      METRICS_PORT: String(metricsPort),
      VALETKEY_CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS),
    });
    // Memory that the server allocates for the first requests must not be counted below.
    await Promise.all(['br', 'gzip', 'identity'].map((coding) => get('/openapi.json', { 'accept-encoding': coding })));
    await get('/docs');
  });
  beforeEach(() => {
    sockets = [];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    folder.remove();
  });

  async function get(path: string, headers: Record<string, string> = {}): Promise<number> {
    const { statusCode, body } = await request(server.origin + path, { headers });
    await body.dump();
    return statusCode;
  }

  async function metric(name: string): Promise<number> {
    const { body } = await request(`http://127.0.0.1:${metricsPort}/metrics`);
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(await body.text())?.[1]);
  }

  /** Opens a connection that is never read. @param from the client's address */
  async function open(from: string): Promise<Socket> {
    const { hostname, port } = new URL(server.origin);
    const socket = connect({ host: hostname, port: Number(port), localAddress: from, allowHalfOpen: true });
    sockets.push(socket);
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
    return socket;
  }

  /** Waits until the server has closed a connection. */
  async function closedByServer(socket: Socket): Promise<void> {
    if (socket.readableEnded || socket.destroyed) return;
    socket.resume();
    await new Promise<void>((resolve) => socket.once('end', resolve).once('close', () => resolve()));
  }

  /** Runs clients with different slow behaviours, each from its own address. */
  async function misbehave(manners: readonly Manner[]): Promise<void> {
    for (const [at, manner] of manners.entries()) {
      for (let count = 0; count < CLIENTS; count++) manner(await open(`127.0.0.${10 + at}`));
    }
  }

  /** Returns the statuses that well-behaved clients get during the test. */
  async function serveOthers(times: number): Promise<number[]> {
    const statuses: number[] = [];
    for (let count = 0; count < times; count++) {
      statuses.push(await get('/healthz'), (await server.call('GET', '/api/v1/connections')).status);
    }
    return statuses;
  }

  async function serverIsWell(): Promise<void> {
    const statuses = await serveOthers(20);
    expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
    expect(server.child.exitCode).to.equal(null);
    expect(server.logs.filter((line) => JSON.parse(line).level >= 50)).to.deep.equal([]);
  }

  for (const [name, manner] of Object.entries(MANNERS)) {
    it(`do not affect others when they ${name}`, async () => {
      await misbehave([manner]);
      await serverIsWell();
    });
  }

  it('F5: use little memory when they send 100 requests each and do not read', async () => {
    const before = await metric('valetkey_process_resident_memory_bytes');
    const clients = await Promise.all(Array.from({ length: 50 }, () => open('127.0.0.2')));
    for (const socket of clients) socket.write(GET('/openapi.json').repeat(100));
    await serverIsWell();
    const patient = await Promise.all(Array.from({ length: 50 }, () => open('127.0.0.3')));
    for (const socket of patient) socket.write(GET('/openapi.json').repeat(SERVER.pipelined));
    await serverIsWell();
    expect(await metric('valetkey_http_queued_bytes')).to.be.at.most(SERVER.queuedBytes + 50 * 2 * MB);
    expect((await metric('valetkey_process_resident_memory_bytes')) - before).to.be.below(100 * MB);
  });

  it('F5: receive all responses once they read', async () => {
    const socket = await open('127.0.0.2');
    socket.write(
      GET('/openapi.json').repeat(10) + GET('/healthz').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    );
    await serverIsWell();
    let received = 0;
    let last = '';
    for await (const chunk of socket) {
      received += chunk.length;
      last = chunk.toString('latin1');
    }
    expect(received).to.be.above(10 * 500_000);
    expect(last).to.match(/"status":"ok"\}\n$/);
  });

  it('L4: of one address get its share of connections, and those of others are served', async () => {
    const refused = await metric('valetkey_http_connections_refused');
    for (let count = 0; count < PER_ADDRESS; count++) await open('127.0.0.4');
    // The operating system accepts connections before the server sees them. These refusals show that the server has
    // seen all connections above.
    await Promise.all(Array.from({ length: 20 }, async () => closedByServer(await open('127.0.0.4'))));
    await serverIsWell();
    expect((await metric('valetkey_http_connections_refused')) - refused).to.equal(20);
    expect(await metric('valetkey_http_connections')).to.be.within(PER_ADDRESS, PER_ADDRESS + 10);
  });

  it('receive a response when they have closed their half after the request', async () => {
    const socket = await open('127.0.0.2');
    socket.end(GET('/healthz'));
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).to.match(/^HTTP\/1\.1 200 /);
  });

  it('do not affect others all together', async () => {
    await misbehave(Object.values(MANNERS));
    await serverIsWell();
    if (IS_LONG) {
      // Some limit finally closes each of these connections.
      while ((await metric('valetkey_http_connections')) > 5)
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      await serverIsWell();
    }
  });
});
