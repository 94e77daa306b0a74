import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { readConfig } from '../../http/config/config.ts';
import { bindPorts } from '../../http/connections/bound-server.ts';

describe('a server that has its port and no listener yet', () => {
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
});
