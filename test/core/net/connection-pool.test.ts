import type { Socket } from 'node:net';
import { expect } from 'chai';
import { closeAll, egressTo, eventually, failureOf, get, type Local, serve, serveRaw } from './local.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('kept connections', () => {
  afterEach(closeAll);

  const openOf = (locals: readonly Local[]) => locals.map(({ open }) => open.size);

  it('are limited in number, and the one that was idle longest is closed', async () => {
    const locals = await Promise.all([1, 2, 3].map(() => serve((_request, response) => response.end())));
    const [first, second, third] = locals as [Local, Local, Local];
    const egress = egressTo(locals, { limits: { keptConnections: 2 } });
    for (const local of [first, second, first, third]) {
      await egress.send(get(local.origin));
      await turn();
    }
    await eventually(() => openOf(locals).join() === '1,0,1');
    expect(locals.map(({ connections }) => connections)).to.deep.equal([1, 1, 1]);
  });

  it('are discarded when their server closes them, and the next call opens another', async () => {
    const local = await serve((_request, response) => response.end('well'));
    const egress = egressTo(local);
    await egress.send(get(local.origin));
    await turn();
    for (const socket of local.open) socket.destroy();
    await eventually(() => local.open.size === 0);
    expect((await egress.send(get(local.origin, { method: 'POST', body: 'x' }))).body.toString()).to.equal('well');
    expect(local.connections).to.equal(2);
  });

  it('are not used again after a response with excess data', async () => {
    const local = await serveRaw((socket) => {
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
      });
    });
    const egress = egressTo(local);
    for (let call = 0; call < 3; call++) {
      expect((await egress.send(get(local.origin))).body.toString()).to.equal('ok');
      await eventually(() => local.open.size === 0);
    }
    expect(local.connections).to.equal(3);
  });

  it('are kept no longer than the limit, even if the server asks for more', async () => {
    const local = await serve((_request, response) => response.setHeader('keep-alive', 'timeout=86400').end());
    const egress = egressTo(local, { limits: { keptConnectionMs: 1 } });
    await egress.send(get(local.origin));
    await eventually(() => local.open.size === 0);
  });

  it('are closed after a call that failed', async () => {
    const sockets: Socket[] = [];
    const local = await serveRaw((socket) => {
      sockets.push(socket);
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this'));
    });
    const failure = await failureOf(egressTo(local, { limits: { idleTimeoutMs: 20 } }).send(get(local.origin)));
    expect(failure.kind).to.equal('timeout');
    await eventually(() => local.open.size === 0);
  });

  it('are not shared by concurrent calls', async () => {
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = 0;
    const local = await serve(async (_request, response) => {
      if (++arrived === 2) release();
      await both;
      response.end();
    });
    const egress = egressTo(local);
    await Promise.all([egress.send(get(local.origin)), egress.send(get(local.origin))]);
    expect(local.connections).to.equal(2);
  });
});

describe('a server that sends too much without use', () => {
  afterEach(closeAll);

  it('is disconnected when it sends interim responses again and again', async () => {
    const local = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(17));
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    });
    const egress = egressTo(local);
    expect(await failureOf(egress.send(get(local.origin)))).to.include({ kind: 'invalid_response', sent: true });
    expect(await failureOf(egress.stream(get(local.origin)))).to.include({ kind: 'invalid_response', sent: true });
    await eventually(() => local.open.size === 0);
  });

  it('is disconnected when it sends its body in tiny chunks', async () => {
    const local = await serveRaw((socket) => {
      const body = '1\r\na\r\n'.repeat(51);
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`));
    });
    const egress = egressTo(local, { limits: { maxChunks: 50 } });
    expect(await failureOf(egress.send(get(local.origin)))).to.include({ kind: 'invalid_response', sent: true });
    const { body } = await egress.stream(get(local.origin));
    expect(await failureOf(body.toArray())).to.include({ kind: 'invalid_response', sent: true });
    await eventually(() => local.open.size === 0);
  });
});
