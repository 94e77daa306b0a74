import { expect } from 'chai';
import { programVersion } from '../../../core/program-version.ts';
import { closeAll, egressTo, failureOf, get, serve, serveRaw } from './local.ts';

describe('headers of a call (E2)', () => {
  afterEach(closeAll);

  it('are sent byte for byte, with no more additional headers than HTTP needs', async () => {
    let received = '';
    const local = await serveRaw((socket) => {
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    const headers = [
      ['Authorization', 'Bearer a.b-c'],
      ['X-Latin', 'caf\u00e9'],
      ['Content-Type', 'application/json'],
    ] as const;
    const answer = await egressTo(local).send(
      get(`${local.origin}/a%20b?c=d&e`, { method: 'POST', headers, body: '{"é":1}' }),
    );
    expect(answer.status).to.equal(204);
    expect(received.split('\r\n')).to.deep.equal([
      'POST /a%20b?c=d&e HTTP/1.1',
      `host: 127.0.0.1:${local.port}`,
      'connection: keep-alive',
      'Authorization: Bearer a.b-c',
      'X-Latin: caf\u00e9',
      'Content-Type: application/json',
      'accept-encoding: gzip, br',
      `user-agent: Valetkey/${programVersion()}`,
      'content-length: 8',
      '',
      Buffer.from('{"é":1}').toString('latin1'),
    ]);
  });

  for (const [what, headers] of [
    ['a line break in a value', { 'x-a': 'b\r\nx-c: d' }],
    ['a bare CR', { 'x-a': 'b\rc' }],
    ['a bare LF', { 'x-a': 'b\nc' }],
    ['a folded line', { 'x-a': 'b\r\n c' }],
    ['a NUL', { 'x-a': 'b\0c' }],
    ['another control character', { 'x-a': 'b\x7fc' }],
    ['a character beyond Latin-1', { 'x-a': '\u010a' }],
    ['a line break in a name', { 'x-a\r\nx-b': 'c' }],
    ['a colon in a name', { 'x-a:': 'b' }],
    ['a space in a name', { 'x a': 'b' }],
    ['an empty name', { '': 'b' }],
    ['Host', { host: 'a.example' }],
    ['Content-Length', { 'Content-Length': '0' }],
    ['Transfer-Encoding', { 'transfer-encoding': 'chunked' }],
    ['Connection', { connection: 'close, authorization' }],
    ['Upgrade', { upgrade: 'h2c' }],
    ['Expect', { expect: '100-continue' }],
    ['TE', { te: 'trailers' }],
    ['Proxy-Authorization', { 'proxy-authorization': 'Basic x' }],
    ['Proxy-Connection', { 'Proxy-Connection': 'keep-alive' }],
  ] as const) {
    it(`with ${what} are refused before anything is sent, without showing the value`, async () => {
      const local = await serve((_request, response) => response.end());
      const egress = egressTo(local);
      const failure = await failureOf(egress.send(get(local.origin, { headers: headers as Record<string, string> })));
      expect(failure).to.include({ kind: 'blocked', sent: false });
      for (const value of Object.values(headers)) expect(failure.message).not.to.contain(value);
      expect(local.connections).to.equal(0);
    });
  }

  it('with a duplicate name are refused, regardless of case', async () => {
    const local = await serve((_request, response) => response.end());
    const headers = [
      ['authorization', 'Bearer a'],
      ['Authorization', 'Bearer b'],
    ] as const;
    expect((await failureOf(egressTo(local).send(get(local.origin, { headers })))).message).to.match(/twice/);
  });

  for (const method of ['get', 'CONNECT', 'TRACE', 'GET / HTTP/1.1\r\nx: y', '']) {
    it(`are not sent with the method ${JSON.stringify(method)}`, async () => {
      const local = await serve((_request, response) => response.end());
      expect((await failureOf(egressTo(local).send(get(local.origin, { method })))).kind).to.equal('blocked');
      expect(local.connections).to.equal(0);
    });
  }

  it('cannot extend the path beyond the request line', async () => {
    const local = await serve((request, response) => response.end(request.url));
    const url = new URL('/a b\r\nx: y/\u00e9?q=\n \u00e9', local.origin);
    const answer = await egressTo(local).send(get(url.href));
    expect(answer.body.toString()).to.equal('/a%20bx:%20y/%C3%A9?q=%20%C3%A9');
    expect(local.requests).to.have.length(1);
  });
});
