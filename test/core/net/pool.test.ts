import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { EgressPolicy } from '../../../core/net/policy.ts';
import { closeAll, egressTo, eventually, failureOf, get, serve, startEgress } from './local.ts';

describe('send', () => {
  afterEach(closeAll);

  it('sends nothing to an origin that the credential was not issued for (P2)', async () => {
    const local = await serve((_request, response) => response.end());
    const egress = egressTo(local);
    for (const allowedOrigins of [
      [],
      ['https://api.example.com'],
      [`${local.origin}/`],
      [`http://localhost:${local.port}`],
    ]) {
      const failure = await failureOf(egress.send(get(local.origin, { allowedOrigins })));
      expect(failure).to.include({ kind: 'blocked', sent: false });
    }
    expect(local.connections).to.equal(0);
  });

  it('checks an overridden call by its original origin, and keeps path and query', async () => {
    const local = await serve((request, response) => response.end(`${request.headers.host} ${request.url}`));
    const overrides = [{ origin: 'https://api.example.com', target: local.origin }];
    const egress = startEgress(new EgressPolicy({ allow: [], overrides }));
    const address = 'https://api.example.com/a/b?c=d';
    const answer = await egress.send(get(address));
    expect(answer.body.toString()).to.equal(`127.0.0.1:${local.port} /a/b?c=d`);
    expect(answer.url.href).to.equal(address);
    const failure = await failureOf(egress.send(get(address, { allowedOrigins: [local.origin] })));
    expect(failure.kind).to.equal('blocked');
  });

  it('sends to the checked URL even if the caller changes its URL object meanwhile', async () => {
    const local = await serve((request, response) => response.end(request.url));
    const url = new URL(`${local.origin}/before`);
    const call = egressTo(local).send({ method: 'GET', url, allowedOrigins: [local.origin] });
    url.href = 'http://127.0.0.1:1/after';
    expect((await call).body.toString()).to.equal('/before');
  });

  it('reuses a connection', async () => {
    const local = await serve((_request, response) => response.end());
    const egress = egressTo(local);
    for (let call = 0; call < 5; call++) {
      await egress.send(get(local.origin));
      // undici releases a connection in the next turn, so that a connection that its server closes is not used for
      // another call.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(local.requests).to.have.length(5);
    expect(local.connections).to.equal(1);
  });

  it('never sends a call twice by itself, also when a kept connection turns out to be closed', async () => {
    const local = await serve((request, response) => {
      if (request.url === '/second') request.socket.destroy();
      else response.end();
    });
    const egress = egressTo(local);
    await egress.send(get(`${local.origin}/first`));
    const failure = await failureOf(egress.send(get(`${local.origin}/second`, { method: 'POST', body: 'x' })));
    expect(failure).to.include({ kind: 'unreachable', sent: true });
    expect(local.requests.map(({ url }) => url)).to.deep.equal(['/first', '/second']);
  });

  describe('with two slots for calls and one in the queue (E11)', () => {
    const limits = { callsPerOrigin: 2, queuePerOrigin: 1 };

    it('queues the third call and refuses the fourth, and handles them in order', async () => {
      const held: ServerResponse[] = [];
      const local = await serve((_request, response) => held.push(response));
      const egress = egressTo(local, { limits });
      const calls = ['/1', '/2', '/3'].map((path) => egress.send(get(local.origin + path)));
      await eventually(() => held.length === 2);
      const refused = await failureOf(egress.send(get(`${local.origin}/4`)));
      expect(refused).to.include({ kind: 'unreachable', sent: false });
      expect(local.connections).to.equal(2);
      held[0]?.end();
      await eventually(() => held.length === 3);
      for (const response of held) response.end();
      await Promise.all(calls);
      expect(local.requests.map(({ url }) => url)).to.have.members(['/1', '/2', '/3']);
    });

    it('does not let one origin block another', async () => {
      const hanging = await serve(() => {});
      const lively = await serve((_request, response) => response.end('well'));
      const egress = egressTo([hanging, lively], { limits });
      const stop = new AbortController();
      const calls = [1, 2, 3].map(() => failureOf(egress.send(get(hanging.origin, { signal: stop.signal }))));
      expect((await egress.send(get(lively.origin))).body.toString()).to.equal('well');
      stop.abort();
      expect((await Promise.all(calls)).map(({ kind }) => kind)).to.deep.equal(['aborted', 'aborted', 'aborted']);
    });

    it('counts the waiting time as time of the call, and releases the slot', async () => {
      const held: ServerResponse[] = [];
      const local = await serve((_request, response) => held.push(response));
      const egress = egressTo(local, { limits });
      const calls = [1, 2].map(() => egress.send(get(local.origin)));
      await eventually(() => held.length === 2);
      const waiting = await failureOf(egress.send(get(local.origin, { timeoutMs: 20 })));
      expect(waiting).to.include({ kind: 'timeout', sent: false });
      for (const response of held) response.end();
      await Promise.all(calls);
      const later = [1, 2].map(() => egress.send(get(local.origin)));
      await eventually(() => held.length === 4);
      for (const response of held) response.end();
      await Promise.all(later);
    });
  });

  it('waits for running calls before it closes, and rejects later ones', async () => {
    const held: ServerResponse[] = [];
    const local = await serve((_request, response) => held.push(response));
    const egress = egressTo(local);
    const call = egress.send(get(local.origin));
    await eventually(() => held.length === 1);
    const closed = egress.close();
    held[0]?.end('done');
    expect((await call).body.toString()).to.equal('done');
    await closed;
    await eventually(() => local.open.size === 0);
    expect(await failureOf(egress.send(get(local.origin)))).to.include({ kind: 'unreachable', sent: false });
  });
});
