import { connect, Socket as NodeSocket, type Socket } from 'node:net';
import { expect } from 'chai';
import { createConnector, type Dial } from '../../../core/net/connect.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';
import { closeAll, egressTo, failureOf, get, serve, startEgress, strictEgress } from './local.ts';

/** Connects as the product does, and records the addresses. */
function watched(dial: Dial = connect): { dial: Dial; dialled: string[] } {
  const dialled: string[] = [];
  return {
    dialled,
    dial: (options) => {
      dialled.push(`${options.host}:${options.port}`);
      return dial(options);
    },
  };
}

describe('the function that opens all connections (P1)', () => {
  afterEach(closeAll);

  it('connects to loopback only if it is allowed', async () => {
    const local = await serve((_request, response) => response.end('hello'));
    const { dial, dialled } = watched();

    const refused = await failureOf(strictEgress({ dial }).send(get(local.origin)));
    expect(refused).to.include({ kind: 'blocked', sent: false });
    expect(dialled).to.deep.equal([]);
    expect(local.connections).to.equal(0);

    const answer = await egressTo(local).send(get(local.origin));
    expect(answer.body.toString()).to.equal('hello');
    expect(local.connections).to.equal(1);
  });

  it('F16: reports that the server is busy when it has no file descriptor for a connection, and does not blame the host', async () => {
    const local = await serve((_request, response) => response.end('hello'));
    let isExhausted = true;
    const dial: Dial = (options) => {
      if (!isExhausted) return connect(options);
      const socket = new NodeSocket();
      const cause = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
      return socket.destroy(cause);
    };
    const egress = egressTo(local, { dial });
    for (let call = 0; call < 10; call++) {
      const failure = await failureOf(egress.send(get(local.origin)));
      expect(failure).to.include({ kind: 'busy', sent: false, retryAfterMs: 1000 });
    }
    isExhausted = false;
    expect((await egress.send(get(local.origin))).body.toString()).to.equal('hello');
  });

  describe('with an untrusted resolver', () => {
    for (const [what, addresses] of [
      ['loopback', ['127.0.0.1']],
      ['the metadata address', ['169.254.169.254']],
      ['a public and a private address', ['93.184.216.34', '10.0.0.1']],
      ['a private and a public address', ['10.0.0.1', '93.184.216.34']],
      ['a mapped loopback address', ['::ffff:127.0.0.1']],
      ['a compatible loopback address', ['::127.0.0.1']],
      ['a NAT64 metadata address', ['64:ff9b::a9fe:a9fe']],
      ['a unique local address', ['fd00:ec2::254']],
      ['a link-local address with a zone', ['fe80::1%lo']],
      ['a public address with a zone', ['2606:4700::1%lo']],
      ['another name, as from a CNAME', ['metadata.google.internal']],
      ['an octal address', ['0177.0.0.1']],
      ['an empty text', ['']],
    ] as const) {
      it(`opens nothing for a name that has ${what}`, async () => {
        const { dial, dialled } = watched();
        const failure = await failureOf(
          strictEgress({ dial, resolver: async () => addresses }).send(get('https://a.example/')),
        );
        expect(failure).to.include({ kind: 'blocked', sent: false });
        expect(failure.message).not.to.match(/\d/);
        expect(dialled).to.deep.equal([]);
      });
    }

    it('reports a name without addresses as unreachable', async () => {
      const none = await failureOf(strictEgress({ resolver: async () => [] }).send(get('https://a.example/')));
      expect(none).to.include({ kind: 'unreachable', sent: false });
      const unknown = strictEgress({ resolver: () => Promise.reject(new Error('ENOTFOUND')) });
      expect(await failureOf(unknown.send(get('https://a.example/')))).to.include({ kind: 'unreachable', sent: false });
    });

    it('resolves once per connection and connects to the checked address, so that a changed DNS answer has no effect', async () => {
      const local = await serve((_request, response) => response.setHeader('connection', 'close').end());
      const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1']];
      let asked = 0;
      const { dial, dialled } = watched();
      const policy = new EgressPolicy({ allow: [{ host: 'localhost', port: local.port }], overrides: [] });
      const egress = startEgress(policy, { dial, resolver: async () => answers[asked++] ?? [] });
      const call = get(`http://localhost:${local.port}/`);

      expect((await egress.send(call)).status).to.equal(200);
      expect((await failureOf(egress.send(call))).kind).to.equal('blocked');
      expect((await failureOf(egress.send(call))).kind).to.equal('blocked');
      expect((await egress.send(call)).status).to.equal(200);
      expect(asked).to.equal(4);
      expect(dialled).to.deep.equal([`127.0.0.1:${local.port}`, `127.0.0.1:${local.port}`]);
      expect(local.requests.map(({ headers }) => headers.host)).to.deep.equal(Array(2).fill(`localhost:${local.port}`));
    });

    it('does not connect to loopback for a listed public name', async () => {
      const local = await serve((_request, response) => response.end());
      const policy = new EgressPolicy({ allow: [{ host: 'a.example', port: local.port }], overrides: [] });
      const egress = startEgress(policy, { resolver: async () => ['127.0.0.1'] });
      expect((await failureOf(egress.send(get(`https://a.example:${local.port}/`)))).kind).to.equal('blocked');
      expect(local.connections).to.equal(0);
    });

    it("refuses the server's own addresses", async () => {
      const { dial, dialled } = watched();
      const policy = new EgressPolicy({ allow: [], overrides: [], ownAddresses: ['93.184.216.34'] });
      const egress = startEgress(policy, { dial, resolver: async () => ['93.184.216.34'] });
      expect((await failureOf(egress.send(get('https://a.example/')))).kind).to.equal('blocked');
      expect(dialled).to.deep.equal([]);
    });
  });

  it('checks the address of the open socket again, and sends nothing if it differs', async () => {
    const local = await serve((_request, response) => response.end());
    const astray: Dial = () => connect({ host: '127.0.0.1', port: local.port });
    const egress = strictEgress({ dial: astray, resolver: async () => ['93.184.216.34'] });
    const failure = await failureOf(egress.send(get('https://a.example/')));
    expect(failure).to.include({ kind: 'blocked', sent: false });
    expect(local.requests).to.have.length(0);
  });

  it('checks the egress policy itself for every caller', async () => {
    const { dial, dialled } = watched();
    const policy = new EgressPolicy({ allow: [], overrides: [] });
    const open = createConnector({ policy, resolver: async () => ['127.0.0.1'], connectTimeoutMs: 1000, dial });
    for (const target of [
      { tls: false, hostname: '127.0.0.1', port: 80 },
      { tls: true, hostname: '127.0.0.1', port: 443 },
      { tls: true, hostname: 'a.example', port: 443 },
      { tls: true, hostname: 'a.example', port: 22 },
    ]) {
      expect(await failureOf(open(target, new AbortController().signal))).to.include({ kind: 'blocked', sent: false });
    }
    expect(dialled).to.deep.equal([]);
  });

  it('tries the next address when one refuses the connection', async () => {
    const local = await serve((_request, response) => response.end('second'));
    const policy = new EgressPolicy({ allow: [{ host: 'localhost', port: local.port }], overrides: [] });
    const { dial, dialled } = watched();
    const egress = startEgress(policy, { dial, resolver: async () => ['::1', '127.0.0.1'] });
    expect((await egress.send(get(`http://localhost:${local.port}/`))).body.toString()).to.equal('second');
    expect(dialled).to.deep.equal([`::1:${local.port}`, `127.0.0.1:${local.port}`]);
  });

  it('tries the next address when one drops packets', async () => {
    const local = await serve((_request, response) => response.end('second'));
    const policy = new EgressPolicy({ allow: [{ host: 'localhost', port: local.port }], overrides: [] });
    const silent: Dial = (options) => (options.host === '127.0.0.2' ? new NodeSocket() : connect(options));
    const egress = startEgress(policy, {
      dial: silent,
      resolver: async () => ['127.0.0.2', '127.0.0.1'],
      limits: { connectTimeoutMs: 600 },
    });
    expect((await egress.send(get(`http://localhost:${local.port}/`))).body.toString()).to.equal('second');
  });

  it('times out and destroys the socket when the host does not respond', async () => {
    const sockets: Socket[] = [];
    const silent: Dial = () => {
      const socket = new NodeSocket();
      sockets.push(socket);
      return socket;
    };
    const egress = strictEgress({
      dial: silent,
      resolver: async () => ['93.184.216.34'],
      limits: { connectTimeoutMs: 40 },
    });
    expect(await failureOf(egress.send(get('https://a.example/')))).to.include({ kind: 'timeout', sent: false });
    expect(sockets.map(({ destroyed }) => destroyed)).to.deep.equal([true]);
  });

  it('times out when the resolver does not respond', async () => {
    const egress = strictEgress({ resolver: () => new Promise(() => {}), limits: { connectTimeoutMs: 20 } });
    expect(await failureOf(egress.send(get('https://a.example/')))).to.include({ kind: 'timeout', sent: false });
  });

  it('reports a closed port as unreachable', async () => {
    const local = await serve(() => {});
    const egress = egressTo(local);
    await closeAll();
    expect(await failureOf(egress.send(get(local.origin)))).to.include({ kind: 'unreachable', sent: false });
  });
});
