import { execFile } from 'node:child_process';
import { createServer } from 'node:https';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { makeCertificate } from '../../support/tls/certificates.ts';
import { closeAll, listen, serve, serveRaw, serveTls } from './local.ts';

const script = new URL('call-in-child.ts', import.meta.url).pathname;

async function callInChild(args: string[], env: Record<string, string>, flags: string[] = []): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', ...flags, script, ...args], { env });
  return JSON.parse(stdout);
}

describe('environment variables of the process', () => {
  afterEach(closeAll);

  it('cannot configure a proxy for outgoing calls', async () => {
    const local = await serve((_request, response) => response.end());
    // The proxy forwards nothing, so only a direct call can get a 200.
    const proxy = await serveRaw((socket) => socket.once('data', () => socket.end('HTTP/1.1 418 Proxy\r\n\r\n')));
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const env = Object.fromEntries(names.map((name) => [name, proxy.origin]));
    // The control: the global fetch does use the proxy.
    expect(await callInChild([local.origin], { ...env, NODE_USE_ENV_PROXY: '1' })).to.deep.equal({
      send: 200,
      fetchLike: 200,
      globalFetch: 'another error',
    });
    expect(local.requests).to.have.length(2);
    expect(proxy.connections).to.be.above(0);
  });

  it('cannot disable the verification of certificates (E8)', async () => {
    const self = makeCertificate({ name: 'self', altNames: ['127.0.0.1'] });
    const local = await serveTls(self, (_request, response) => response.end());
    expect(await callInChild([local.origin], { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).to.deep.equal({
      send: 'tls',
      fetchLike: 'tls',
      globalFetch: 200,
    });
  });

  it('cannot enable old TLS versions (E8)', async () => {
    const authority = makeCertificate({ name: 'Test authority', authority: true });
    const { cert, key } = makeCertificate({ name: 'leaf', altNames: ['127.0.0.1'], issuer: authority });
    const server = createServer({
      cert,
      key,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const local = await listen(server, 'https');
    const flags = ['--tls-min-v1.0', '--tls-cipher-list=DEFAULT@SECLEVEL=0'];
    server.on('request', (_request, response) => response.end());
    const answers = await callInChild([local.origin, authority.cert], { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, flags);
    expect(answers).to.deep.equal({ send: 'tls', fetchLike: 'tls', globalFetch: 200 });
  });
});
