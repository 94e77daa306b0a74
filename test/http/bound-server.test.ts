import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { readConfig } from '../../http/config/config.ts';
import { bindPorts } from '../../http/connections/bound-server.ts';

describe('a server that is bound to its port without a listener', () => {
  const { config } = readConfig({ PORT: '0', BASE_URL: 'http://localhost', DATA_DIR: '/nowhere' });

  it('closes a connection with too many requests, and keeps one request of each other', async () => {
    const ports = await bindPorts(config, { pipelined: 2 });
    const { port } = ports.api.server.address() as AddressInfo;
    const [greedy, modest] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    greedy.on('error', () => {});
    greedy.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(50));
    await once(greedy, 'close');
    modest.write('GET /kept HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(ports.api.server, 'request');
    const paths: string[] = [];
    ports.api.serve((req, res) => {
      paths.push(req.url ?? '');
      res.end('served');
    });
    const [bytes] = await once(modest, 'data');
    expect(String(bytes)).to.include('served');
    expect(paths).to.deep.equal(['/', '/kept']);
    ports.close();
  });

  for (const [what, request, status] of [
    ['without a host', 'GET / HTTP/1.1\r\n\r\n', '400 Bad Request'],
    ['with an unknown expectation', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n\r\n', '417 Expectation Failed'],
  ] as const) {
    it(`F5: responds once to many requests ${what}, and closes the connection`, async () => {
      const ports = await bindPorts(config);
      ports.api.serve((_req, res) => res.end('served'));
      const { port } = ports.api.server.address() as AddressInfo;
      const client = connect(port, '127.0.0.1');
      let received = '';
      client.on('error', () => {}).on('data', (chunk) => (received += chunk));
      client.write(request.repeat(20));
      await once(client, 'close');
      expect(received.match(/HTTP\/1\.1 \d+ [A-Za-z ]+/g)).to.deep.equal([`HTTP/1.1 ${status}`]);
      ports.close();
    });
  }

  it('serves a request that waits with its body for 100 Continue', async () => {
    const ports = await bindPorts(config);
    ports.api.serve((req, res) => req.resume().on('end', () => res.end('served')));
    const { port } = ports.api.server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-Continue\r\ncontent-length: 1\r\n\r\n');
    const [interim] = await once(client, 'data');
    client.write('x');
    const [final] = await once(client, 'data');
    expect(`${interim}${final}`).to.include('HTTP/1.1 100 Continue').and.to.include('served');
    client.destroy();
    ports.close();
  });
});
