import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { type AddressInfo, createServer, isIPv4, type Server, type Socket } from 'node:net';

/** A question that reached the server. */
export interface DnsQuestion {
  name: string;
  type: 'A' | 'AAAA' | 'other';
  over: 'udp' | 'tcp';
}

/**
 * How the server responds to a question: with addresses of its family (an empty list: the name exists, without such an
 * address), with a response code, with silence, with "truncated, ask over TCP", or with bytes.
 */
export type DnsResponse = readonly string[] | 'nxdomain' | 'servfail' | 'refused' | 'silent' | 'truncated' | Buffer;

export interface DnsServer {
  /** The address as in a resolver's list of servers. */
  address: string;
  questions: DnsQuestion[];
  respond: (question: DnsQuestion, request: Buffer) => DnsResponse;
  stop(): Promise<void>;
}

const CODES = { servfail: 2, nxdomain: 3, refused: 5 } as const;
const TYPES: Record<number, DnsQuestion['type']> = { 1: 'A', 28: 'AAAA' };

/** Starts a name server (RFC 1035) on loopback, over UDP and TCP on the same port. */
export async function startDnsServer(respond: DnsServer['respond']): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  const open = new Set<Socket>();
  const server: DnsServer = { address: '', questions, respond, stop: async () => {} };
  const handle = (request: Buffer, over: 'udp' | 'tcp'): Buffer | undefined => {
    const question = readQuestion(request, over);
    questions.push(question);
    return encodeResponse(request, question, server.respond(question, request));
  };

  const tcp = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const response = handle(received.subarray(2, end), 'tcp');
        received = received.subarray(end);
        if (response) socket.write(Buffer.concat([uint16(response.length), response]));
      }
    });
  });
  const udp = await bindBoth(tcp);
  udp.on('message', (request, { port, address }) => {
    const response = handle(request, 'udp');
    if (response) udp.send(response, port, address);
  });
  server.address = `127.0.0.1:${udp.address().port}`;
  server.stop = async () => {
    for (const socket of open) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => udp.close(() => resolve())),
      new Promise((resolve) => tcp.close(resolve)),
    ]);
  };
  return server;
}

/** Binds TCP and UDP ports of the same number. Tries again if the UDP port is taken although the TCP port was free. */
async function bindBoth(tcp: Server): Promise<UdpSocket> {
  for (;;) {
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const udp = createSocket('udp4');
    const bound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false));
      udp.bind((tcp.address() as AddressInfo).port, '127.0.0.1', () => resolve(true));
    });
    if (bound) return udp;
    await new Promise((resolve) => tcp.close(resolve));
  }
}

function readQuestion(request: Buffer, over: DnsQuestion['over']): DnsQuestion {
  const labels: string[] = [];
  let at = 12;
  for (let length = request[at] ?? 0; length > 0; length = request[at] ?? 0) {
    labels.push(request.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[request.readUInt16BE(at + 1)] ?? 'other', over };
}

/** Returns the question section of a request, unchanged. */
function questionSection(request: Buffer): Buffer {
  const end = request.indexOf(0, 12) + 5;
  return request.subarray(12, end);
}

function encodeResponse(request: Buffer, { type }: DnsQuestion, response: DnsResponse): Buffer | undefined {
  if (response === 'silent') return undefined;
  if (Buffer.isBuffer(response)) return response;
  const addresses = Array.isArray(response) ? (response as string[]) : [];
  const code = typeof response === 'string' && response in CODES ? CODES[response as keyof typeof CODES] : 0;
  const header = Buffer.alloc(12);
  request.copy(header, 0, 0, 2);
  header[2] = 0x81 | (response === 'truncated' ? 0x02 : 0);
  header[3] = 0x80 | code;
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  // Each record names the host by a pointer to the question.
  const records = addresses.map((address) => {
    const data = addressBytes(address);
    const head = Buffer.from([0xc0, 12, 0, type === 'AAAA' ? 28 : 1, 0, 1, 0, 0, 0, 0]);
    return Buffer.concat([head, uint16(data.length), data]);
  });
  return Buffer.concat([header, questionSection(request), ...records]);
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::').map((half) => half);
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return Buffer.concat([...before, ...zeros, ...after].map(uint16));
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
