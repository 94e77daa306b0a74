import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import type { Dial } from '../../../core/net/connect.ts';
import type { EgressLimits } from '../../../core/net/limits.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';
import {
  closeAll,
  egressTo,
  eventually,
  failureOf,
  type Local,
  serve,
  serveRaw,
  startEgress,
  strictEgress,
} from './local.ts';

const KB = 1024;

describe('protocol calls', () => {
  afterEach(closeAll);

  it('connect to loopback only if it is allowed', async () => {
    const local = await serve((_request, response) => response.end('{"a":1}'));
    for (const call of [strictEgress().protocol, strictEgress().fetchLike]) {
      expect(await failureOf(call(local.origin))).to.include({ kind: 'blocked', sent: false });
    }
    expect(local.connections).to.equal(0);
    const answer = await egressTo(local).protocol(local.origin, { responseType: 'json' });
    expect(answer.body).to.deep.equal({ a: 1 });
    expect(await egressTo(local).protocol(local.origin).json()).to.deep.equal({ a: 1 });
  });

  it('go to the local target of an overridden https origin, with body and credential', async () => {
    const local = await serve(async (request, response) => {
      const chunks = await request.toArray();
      response.end(`${request.method} ${request.url} ${request.headers.authorization} ${Buffer.concat(chunks)}`);
    });
    const overrides = [{ origin: 'https://auth.example.com', target: local.origin }];
    const { protocol } = startEgress(new EgressPolicy({ allow: [], overrides }));
    const headers = { authorization: 'Basic abc' };
    const answer = await protocol.post('https://auth.example.com/token?a=b', { form: { grant: 'x' }, headers });
    expect(answer.body).to.equal('POST /token?a=b Basic abc grant=x');
    expect(answer.url).to.equal('https://auth.example.com/token?a=b');
    expect(local.requests[0]?.headers.host).to.equal(`127.0.0.1:${local.port}`);
  });

  it('name a host on its default port without the port', async () => {
    const local = await serve((request, response) => response.end(request.headers.host));
    const policy = new EgressPolicy({ allow: [{ host: 'localhost', port: 80 }], overrides: [] });
    const { connect } = await import('node:net');
    const egress = startEgress(policy, {
      resolver: async () => ['127.0.0.1'],
      dial: () => connect(local.port, '127.0.0.1'),
    });
    expect((await egress.protocol('http://localhost/')).body).to.equal('localhost');
    expect(
      (
        await egress.send({ method: 'GET', url: new URL('http://localhost/'), allowedOrigins: ['http://localhost'] })
      ).body.toString(),
    ).to.equal('localhost');
  });

  it('return error statuses and redirects as responses and repeat nothing', async () => {
    const local = await serve((request, response) => {
      response.statusCode = Number(request.url?.slice(1));
      response.setHeader('location', '/200').setHeader('retry-after', '0').end('text');
    });
    const egress = egressTo(local);
    for (const status of [302, 307, 400, 401, 429, 500, 503]) {
      expect((await egress.protocol(`${local.origin}/${status}`)).statusCode).to.equal(status);
      const answer = await egress.fetchLike(`${local.origin}/${status}`);
      expect([answer.status, answer.headers.get('location'), await answer.text()]).to.deep.equal([
        status,
        '/200',
        'text',
      ]);
    }
    expect(local.requests).to.have.length(14);
  });

  it('open one connection each, so that no refresh token is sent on a closing connection', async () => {
    const local = await serve((_request, response) => response.end());
    const egress = egressTo(local);
    for (let call = 0; call < 3; call++) await egress.protocol(local.origin);
    expect(local.connections).to.equal(3);
    await eventually(() => local.open.size === 0);
  });

  it('refuse options that would open a socket elsewhere', async () => {
    const local = await serve((_request, response) => response.end('here'));
    const { protocol } = egressTo(local);
    const { connect } = await import('node:net');
    const decoy = await serve((_request, response) => response.end('decoy'));
    const answer = await protocol(local.origin, {
      createConnection: () => connect(decoy.port, '127.0.0.1'),
      request: () => undefined,
      enableUnixSockets: true,
    });
    expect(answer.body).to.equal('here');
    expect(decoy.connections).to.equal(0);
    expect((await failureOf(protocol('http://unix:/var/run/x.sock:/', { enableUnixSockets: true }))).kind).to.equal(
      'blocked',
    );
    expect((await failureOf(protocol(local.origin, { headers: { Host: 'a.example' } }))).kind).to.equal('blocked');
  });

  it('refuse streams', async () => {
    const { protocol } = strictEgress();
    await (protocol.stream('https://a.example/') as unknown as Promise<void>).then(
      () => expect.fail('a stream'),
      (error: unknown) => expect(error).to.be.instanceOf(TypeError),
    );
  });

  describe('within limits (E4)', () => {
    async function failuresOf(local: Local, limits: Partial<EgressLimits>) {
      const egress = egressTo(local, { limits });
      const failures = [
        await failureOf(egress.protocol(local.origin)),
        await failureOf(egress.fetchLike(local.origin)),
      ];
      await eventually(() => local.open.size === 0);
      for (const { sent } of failures) expect(sent).to.equal(true);
      return failures.map(({ kind }) => kind);
    }

    it('accept a response of exactly the limit', async () => {
      const local = await serve((_request, response) => response.end(Buffer.alloc(64 * KB)));
      const egress = egressTo(local, { limits: { protocolMaxBytes: 64 * KB } });
      expect((await egress.protocol(local.origin, { responseType: 'buffer' })).body).to.have.length(64 * KB);
    });

    for (const [what, answer] of [
      ['announced', (local: Buffer) => ({ headers: { 'content-length': local.length }, body: local })],
      ['in chunks', (local: Buffer) => ({ headers: {}, body: local })],
      ['as a bomb', (local: Buffer) => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(local) })],
      [
        'as an announced bomb',
        (local: Buffer) => {
          const body = gzipSync(local);
          return { headers: { 'content-encoding': 'gzip', 'content-length': body.length }, body };
        },
      ],
    ] as const) {
      it(`reject a larger response that comes ${what}`, async () => {
        const { headers, body } = answer(Buffer.alloc(256 * KB));
        const local = await serve((_request, response) => {
          response.writeHead(200, headers).write(body);
          response.end();
        });
        expect(await failuresOf(local, { protocolMaxBytes: 64 * KB })).to.deep.equal(['too_large', 'too_large']);
      });
    }

    it('end an endless response', async () => {
      const local = await serve((_request, response) => {
        const write = () => {
          while (response.write(Buffer.alloc(KB)));
        };
        response.on('drain', write);
        write();
      });
      expect(await failuresOf(local, { protocolMaxBytes: 64 * KB })).to.deep.equal(['too_large', 'too_large']);
    });

    it('end a silent response and one that arrives byte by byte', async () => {
      const silent = await serve(() => {});
      expect(await failuresOf(silent, { protocolTimeoutMs: 150 })).to.deep.equal(['timeout', 'timeout']);
      const drips: NodeJS.Timeout[] = [];
      const dripping = await serve((_request, response) => {
        drips.push(setInterval(() => response.write('a'), 5));
      });
      expect(await failuresOf(dripping, { protocolTimeoutMs: 150 })).to.deep.equal(['timeout', 'timeout']);
      drips.forEach(clearInterval);
    });

    it('close the connection when a response switches protocols, or never gets past interim responses', async () => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
      const switching = await serveRaw((socket) => socket.once('data', () => socket.write(head)));
      expect(await failuresOf(switching, {})).to.deep.equal(['invalid_response', 'invalid_response']);
      const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17);
      const hinting = await serveRaw((socket) => socket.once('data', () => socket.write(hints)));
      expect(await failuresOf(hinting, {})).to.deep.equal(['invalid_response', 'invalid_response']);
    });

    it('have slots while calls of tools use all of theirs', async () => {
      const local = await serve((request, response) => {
        if (request.url === '/token') response.end('well');
      });
      const egress = egressTo(local, { limits: { callsPerOrigin: 1, queuePerOrigin: 1 } });
      const stop = new AbortController();
      const hanging = [1, 2].map(() =>
        failureOf(
          egress.send({ method: 'GET', url: local.origin, allowedOrigins: [local.origin], signal: stop.signal }),
        ),
      );
      await eventually(() => local.requests.length === 1);
      expect((await egress.protocol(`${local.origin}/token`)).body).to.equal('well');
      stop.abort();
      await Promise.all(hanging);
    });

    it('refuse a large header', async () => {
      const local = await serveRaw((socket) => {
        socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(8 * KB)}\r\n\r\n`));
      });
      expect(await failuresOf(local, { maxHeaderBytes: 4 * KB })).to.deep.equal(['too_large', 'too_large']);
    });

    it('report invalid HTTP and incomplete responses', async () => {
      const noise = await serveRaw((socket) => socket.once('data', () => socket.end('SSH-2.0\r\n')));
      expect(await failuresOf(noise, {})).to.deep.equal(['invalid_response', 'invalid_response']);
      const closing = await serveRaw((socket) => socket.once('data', () => socket.destroy()));
      expect(await failuresOf(closing, {})).to.deep.equal(['unreachable', 'unreachable']);
      const short = await serveRaw((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
      });
      expect(await failuresOf(short, {})).to.deep.equal(['invalid_response', 'invalid_response']);
    });

    it('wait for a slot among the calls of their origin, for a limited time', async () => {
      const local = await serve(() => {});
      const limits = { callsPerOrigin: 1, protocolTimeoutMs: 200 };
      const { protocol } = egressTo(local, { limits });
      const calls = [failureOf(protocol(local.origin)), failureOf(protocol(local.origin))];
      let sentWhileFirstWaited = 0;
      void calls[0]?.then(() => (sentWhileFirstWaited = local.requests.length));
      const failures = await Promise.all(calls);
      expect(failures.map(({ kind }) => kind)).to.deep.equal(['timeout', 'timeout']);
      expect(failures[0]?.sent).to.equal(true);
      // On a busy machine the second call may get the slot of the first one just before its own time ends.
      expect(sentWhileFirstWaited).to.equal(1);
    });

    it('release their slot', async () => {
      const local = await serve((request, response) => {
        if (request.url === '/break') request.socket.destroy();
        else response.end();
      });
      const egress = egressTo(local, { limits: { callsPerOrigin: 1 } });
      expect((await failureOf(egress.protocol(`${local.origin}/break`))).kind).to.equal('unreachable');
      await egress.protocol(local.origin);
      await egress.send({ method: 'GET', url: new URL(local.origin), allowedOrigins: [local.origin] });
      await egress.fetchLike(local.origin);
    });

    it('open no connection when the caller stops before the name is resolved', async () => {
      const local = await serve((_request, response) => response.end());
      const policy = new EgressPolicy({ allow: [{ host: 'localhost', port: local.port }], overrides: [] });
      const caller = new AbortController();
      const resolver = async () => {
        caller.abort();
        return ['127.0.0.1'];
      };
      const egress = startEgress(policy, { resolver });
      const failure = await failureOf(egress.fetchLike(`http://localhost:${local.port}/`, { signal: caller.signal }));
      expect(failure).to.include({ kind: 'aborted', sent: false });
      expect(local.connections).to.equal(0);
    });

    it('close a connection that opens after the caller has stopped', async () => {
      const local = await serve((_request, response) => response.end());
      const caller = new AbortController();
      const sockets: Socket[] = [];
      const dial: Dial = (options) => {
        const socket = connect(options);
        sockets.push(socket);
        caller.abort();
        return socket;
      };
      const failure = await failureOf(egressTo(local, { dial }).fetchLike(local.origin, { signal: caller.signal }));
      expect(failure).to.include({ kind: 'aborted', sent: false });
      expect(sockets.map(({ destroyed }) => destroyed)).to.deep.equal([true]);
      expect(local.requests).to.have.length(0);
    });

    it('stop when the caller stops', async () => {
      const local = await serve(() => {});
      const caller = new AbortController();
      const call = failureOf(egressTo(local).fetchLike(local.origin, { signal: caller.signal }));
      await eventually(() => local.requests.length === 1);
      caller.abort();
      expect(await call).to.include({ kind: 'aborted', sent: true });
      await eventually(() => local.open.size === 0);
    });
  });

  it('throw errors without the request, which contains credentials', async () => {
    const local = await serve((request, response) => {
      if (request.url === '/json') response.end('no json');
      else request.socket.destroy();
    });
    const { protocol } = egressTo(local);
    const headers = { authorization: 'Bearer canary-value' };
    for (const path of ['/json', '/close']) {
      const failure = await failureOf(protocol(local.origin + path, { headers, responseType: 'json' }));
      const { inspect } = await import('node:util');
      expect(inspect(failure, { depth: 20, showHidden: true })).not.to.contain('canary-value');
    }
  });
});

describe('pinnedFetch (P2)', () => {
  afterEach(closeAll);

  it('calls the origins it was made for and no other', async () => {
    const [home, away] = [await serve((_q, r) => r.end('home')), await serve((_q, r) => r.end('away'))];
    const fetch = egressTo([home, away]).pinnedFetch([home.origin]);
    expect(await (await fetch(home.origin)).text()).to.equal('home');
    expect(await failureOf(fetch(away.origin))).to.include({ kind: 'blocked', sent: false });
    expect(away.connections).to.equal(0);
  });
});

describe('fetchLike', () => {
  afterEach(closeAll);

  it('reads the arguments of fetch and returns a Response', async () => {
    const local = await serve(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      response.setHeader('set-cookie', ['a=1', 'b=2']).setHeader('x-type', request.headers['content-type'] ?? '');
      response.statusCode = 201;
      response.end(`${request.method} ${body}`);
    });
    const { fetchLike } = egressTo(local);
    const answer = await fetchLike(local.origin, { method: 'POST', body: new URLSearchParams({ a: 'b c' }) });
    expect(answer).to.be.instanceOf(Response);
    expect(answer.status).to.equal(201);
    expect(answer.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
    expect(answer.headers.get('x-type')).to.equal('application/x-www-form-urlencoded;charset=UTF-8');
    expect(await answer.text()).to.equal('POST a=b+c');
  });

  it('returns responses without a body, and unchanged bytes', async () => {
    const local = await serve((request, response) => {
      response.statusCode = Number(request.url?.slice(1));
      response.end(Buffer.from([0xff, 0x00, 0xfe]));
    });
    const { fetchLike } = egressTo(local);
    for (const status of [204, 205, 304]) {
      const answer = await fetchLike(`${local.origin}/${status}`);
      expect([answer.status, answer.body]).to.deep.equal([status, null]);
    }
    expect([...(await (await fetchLike(`${local.origin}/200`)).bytes())]).to.deep.equal([0xff, 0x00, 0xfe]);
  });

  it('refuses what fetch would refuse, before it sends anything', async () => {
    const local = await serve((_request, response) => response.end());
    const { fetchLike } = egressTo(local);
    for (const init of [{ method: 'CONNECT' }, { headers: { 'x-a': 'b\r\nc: d' } }, { method: 'GET', body: 'x' }]) {
      expect(await failureOf(fetchLike(local.origin, init))).to.include({ kind: 'blocked', sent: false });
    }
    expect(local.connections).to.equal(0);
  });

  it('works with oauth4webapi from discovery to token, through an override', async () => {
    const local = await serve(async (request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/.well-known/oauth-authorization-server') {
        return response.end(
          JSON.stringify({ issuer: 'https://as.example', token_endpoint: 'https://as.example/token' }),
        );
      }
      const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
      const known = body.get('client_secret') === 'canary' && body.get('grant_type') === 'client_credentials';
      response.statusCode = known ? 200 : 401;
      return response.end(
        JSON.stringify(known ? { access_token: 'at', token_type: 'bearer' } : { error: 'invalid_client' }),
      );
    });
    const overrides = [{ origin: 'https://as.example', target: local.origin }];
    const egress = startEgress(new EgressPolicy({ allow: [], overrides }));
    const options = { [oauth.customFetch]: egress.pinnedFetch(['https://as.example']) };
    const issuer = new URL('https://as.example');
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const client = { client_id: 'client' };
    const grant = async (secret: string) => {
      const authentication = oauth.ClientSecretPost(secret);
      const parameters = new URLSearchParams();
      const answer = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options);
      return oauth.processClientCredentialsResponse(server, client, answer);
    };
    expect((await grant('canary')).access_token).to.equal('at');
    const refusal = await grant('wrong').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(oauth.ResponseBodyError);
  });
});
