import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { EgressPolicy } from '../../../core/net/policy.ts';
import { createDigester } from '../../../core/vault/digest.ts';
import { sendDelivery } from '../../../core/webhooks/send-delivery.ts';
import { mintSigningSecret } from '../../../core/webhooks/signing-secret.ts';
import { environmentId } from '../../../db/store.ts';
import { closeAll, egressTo, eventually, type Local, serve, serveRaw, startEgress } from '../net/local.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const NOW = Date.parse('2026-06-01T12:00:00Z');
const digester = createDigester(createSecretKey(Buffer.alloc(32, 7)));
const environment = environmentId('env_01k6p3v0c2d4e6f8g0h1j3k5m7');

function send(url: string, egress: Parameters<typeof sendDelivery>[1], signal = new AbortController().signal) {
  const place = { environmentId: environment, endpointId: 'whk_1', secretId: 'sec_1' };
  const { row } = mintSigningSecret(digester, place, 'HMAC_SHA256', NOW);
  const endpoint = {
    id: 'whk_1',
    environmentId: environment,
    url,
    description: '',
    eventTypes: [],
    ordered: false,
    algorithm: 'HMAC_SHA256' as const,
    secrets: [row],
    enabled: true,
    disabledReason: '',
    failingSince: null,
    createdAt: NOW,
    updatedAt: NOW,
  };
  return sendDelivery({ digester, now: () => NOW }, egress, endpoint, { id: 'evt_1', body: '{}' }, signal);
}

describe('a webhook endpoint', () => {
  afterEach(closeAll);

  const to = (local: Local, limits = {}) => send(local.origin, egressTo(local, { limits }));

  it('that accepts the event receives it (control)', async () => {
    const local = await serve((_request, response) => response.end('thanks'));
    const sent = await to(local);
    expect(sent).to.include({ isDelivered: true, isGone: false, retryAfterMs: undefined });
    expect(sent.attempt).to.deep.include({ status: 200, body: 'thanks', isCut: false, error: '' });
    expect(local.requests).to.have.length(1);
  });

  it('that never responds is abandoned after the time limit, and its connection is closed', async () => {
    const local = await serve(() => {});
    const sent = await to(local, { protocolTimeoutMs: 50 });
    expect(sent).to.include({ isDelivered: false });
    expect(sent.attempt).to.deep.include({ status: null, error: 'The call did not finish within 50 ms.' });
    await eventually(() => local.open.size === 0);
  });

  it('that sends a head and no body counts as having responded', async () => {
    const local = await serve((_request, response) => response.writeHead(200).write('a'));
    const sent = await to(local, { protocolTimeoutMs: 50 });
    expect(sent).to.include({ isDelivered: true });
    expect(sent.attempt).to.deep.include({ status: 200, body: '', isCut: true });
  });

  it('that redirects is not followed', async () => {
    const other = await serve((_request, response) => response.end());
    const local = await serve((_request, response) => response.writeHead(307, { location: other.origin }).end());
    const policy = new EgressPolicy({
      allow: [local, other].map(({ port }) => ({ host: '127.0.0.1', port })),
      overrides: [],
    });
    const sent = await send(local.origin, startEgress(policy));
    expect(sent.attempt).to.include({ status: 307, error: 'The endpoint returned 307. Redirects are not followed.' });
    expect(other.connections).to.equal(0);
  });

  for (const status of [200, 500]) {
    it(`that returns ${status} and a gigabyte is disconnected, and its status determines the outcome`, async () => {
      let written = 0;
      const local = await serve(async (_request, response) => {
        response.writeHead(status);
        const chunk = Buffer.alloc(64 * KIB, 'x');
        const closed = once(response, 'close');
        while (!response.destroyed && written < 1024 * MIB) {
          written += chunk.length;
          if (!response.write(chunk)) {
            await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
          }
        }
      });
      const sent = await to(local);
      expect(sent.isDelivered).to.equal(status === 200);
      expect(sent.attempt).to.deep.include({ status, body: '', isCut: true });
      await eventually(() => local.open.size === 0);
      // The receiver could only write what the buffers of two sockets hold.
      expect(written).to.be.below(32 * MIB);
    });
  }

  it('that sends a decompression bomb is disconnected', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MIB));
    const local = await serve((_request, response) => {
      response.writeHead(500, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const sent = await to(local);
    expect(sent.attempt).to.deep.include({ status: 500, body: '', isCut: true });
  });

  const lies: Record<string, string> = {
    'a shorter body than it announces': 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort',
    'a body that is not compressed as it says':
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nplain',
  };
  for (const [lie, text] of Object.entries(lies)) {
    it(`that sends ${lie} succeeds or fails by its status`, async () => {
      const local = await serveRaw((socket) => socket.once('data', () => socket.end(text)));
      const sent = await to(local);
      expect(sent).to.include({ isDelivered: true });
      expect(sent.attempt).to.include({ status: 200, isCut: true });
    });
  }

  for (const [name, bytes] of Object.entries({
    'no HTTP': 'SSH-2.0-OpenSSH_9.6\r\n',
    nothing: '',
    'a head without an end': `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}`,
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  })) {
    it(`that sends ${name} has failed`, async () => {
      const local = await serveRaw((socket) => socket.once('data', () => socket.end(bytes)));
      const sent = await to(local);
      expect(sent).to.include({ isDelivered: false });
      expect(sent.attempt.status).to.equal(null);
      expect(sent.attempt.error).to.be.a('string').and.not.equal('');
    });
  }

  it('that moves to a private address is not called there', async () => {
    const dialled: string[] = [];
    let address = '93.184.215.14';
    const local = await serve((_request, response) => response.end());
    const { connect } = await import('node:net');
    const egress = startEgress(new EgressPolicy({ allow: [], overrides: [] }), {
      resolver: async () => [address],
      dial: ({ host }) => {
        dialled.push(String(host));
        return connect(local.port, '127.0.0.1');
      },
    });
    // The control: a public address is dialled.
    await send('https://app.example/hook', egress);
    expect(dialled).to.deep.equal(['93.184.215.14']);
    for (const moved of ['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:192.168.0.1']) {
      address = moved;
      const sent = await send('https://app.example/hook', egress);
      expect(sent.attempt.error, moved).to.include('resolves to an address that the egress policy does not allow');
    }
    expect(dialled).to.have.length(1);
  });

  it('is abandoned when the server stops', async () => {
    const stop = new AbortController();
    const local = await serve(() => stop.abort());
    const sent = await send(local.origin, egressTo(local), stop.signal);
    expect(sent).to.include({ isDelivered: false });
    expect(sent.attempt.error).to.equal('The call was cancelled.');
  });

  it('can return bytes that are not text', async () => {
    const local = await serve((_request, response) => response.writeHead(400).end(Buffer.from([0, 255, 97])));
    expect((await to(local)).attempt).to.include({ body: '\ufffd\ufffda', isCut: false });
  });
});
