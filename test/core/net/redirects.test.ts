import type { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { expect } from 'chai';
import type { Dial } from '../../../core/net/connect.ts';
import type { EgressRequest } from '../../../core/net/egress.ts';
import { makeCertificate } from '../../support/tls/certificates.ts';
import { closeAll, egressTo, failureOf, get, type Local, serve, serveTls } from './local.ts';

const STATUSES = [301, 302, 303, 307, 308];

describe('redirects (E3)', () => {
  let here: Local;
  let elsewhere: Local;
  let location: string;
  beforeEach(async () => {
    elsewhere = await serve((_request, response) => response.end('stolen'));
    here = await serve((request, response) => {
      if (request.url !== '/from') return response.end('arrived');
      response.statusCode = Number(request.headers['x-status']);
      return response.setHeader('location', location).end('moved');
    });
  });
  afterEach(closeAll);

  function call(status: number, more: Partial<EgressRequest> = {}): EgressRequest {
    const headers = { authorization: 'Bearer token', 'x-status': String(status), 'content-type': 'text/plain' };
    return get(`${here.origin}/from`, { headers, redirects: 'same-origin', ...more });
  }

  for (const status of STATUSES) {
    it(`${status}: is returned as the response by default`, async () => {
      location = '/to';
      const answer = await egressTo(here).send(call(status, { redirects: 'none' }));
      expect(answer).to.deep.include({ status, body: Buffer.from('moved') });
      expect(answer.headers['location']).to.equal('/to');
      expect(here.requests).to.have.length(1);
    });

    it(`${status}: is followed on the same origin where the call asks for it, with its credential`, async () => {
      location = `${here.origin}/to?a=b`;
      const answer = await egressTo(here).send(call(status));
      expect(answer.status).to.equal(200);
      expect(answer.url.href).to.equal(location);
      expect(here.requests[1]?.headers.authorization).to.equal('Bearer token');
    });

    for (const [what, target] of [
      ['another port', () => `${elsewhere.origin}/to`],
      ['another host', () => `http://localhost:${here.port}/to`],
      ['another scheme', () => `https://127.0.0.1:${here.port}/to`],
      ['a scheme-relative address', () => `//127.0.0.1:${elsewhere.port}/to`],
      ['a user name', () => `http://user@127.0.0.1:${here.port}/to`],
      ['no address', () => 'http://['],
      ['a file', () => 'file:///etc/passwd'],
    ] as const) {
      it(`${status}: is not followed to ${what}, even if direct calls to it are allowed`, async () => {
        location = target();
        const allowedOrigins = [here.origin, elsewhere.origin];
        const answer = await egressTo([here, elsewhere]).send(call(status, { allowedOrigins }));
        expect(answer).to.deep.include({ status, url: new URL(`${here.origin}/from`) });
        expect(here.requests).to.have.length(1);
        expect(elsewhere.connections).to.equal(0);
      });
    }

    it(`${status}: keeps or drops the body of a POST as the standard says`, async () => {
      location = '/to';
      await egressTo(here).send(call(status, { method: 'POST', body: 'text' }));
      const [, second] = here.requests as [IncomingMessage, IncomingMessage];
      const kept = status >= 307;
      expect(second.method).to.equal(kept ? 'POST' : 'GET');
      expect(second.headers['content-length']).to.equal(kept ? '4' : undefined);
      expect(second.headers['content-type']).to.equal(kept ? 'text/plain' : undefined);
    });
  }

  it('keep the method of a DELETE on 301 and of a HEAD on 303', async () => {
    location = '/to';
    await egressTo(here).send(call(301, { method: 'DELETE' }));
    await egressTo(here).send(call(303, { method: 'HEAD' }));
    expect(here.requests.map(({ method }) => method)).to.deep.equal(['DELETE', 'DELETE', 'HEAD', 'HEAD']);
  });

  it('are followed at most three times', async () => {
    location = '/from';
    const failure = await failureOf(egressTo(here).send(call(302)));
    expect(failure).to.include({ kind: 'invalid_response', sent: true });
    expect(here.requests).to.have.length(4);
  });

  it('are not followed from https to http on one host and port', async () => {
    const authority = makeCertificate({ name: 'Test authority', authority: true });
    const certificate = makeCertificate({ name: 'leaf', altNames: ['127.0.0.1'], issuer: authority });
    const local = await serveTls(certificate, (_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${local.port}/to` }).end();
    });
    const egress = egressTo(local, { ca: [authority.cert] });
    expect((await egress.send(get(local.origin, { redirects: 'same-origin' }))).status).to.equal(302);
    expect(local.connections).to.equal(1);
  });

  it('count as sent when a later request of the chain fails', async () => {
    const local = await serve((_request, response) => {
      response.writeHead(302, { location: '/next', connection: 'close' }).end();
    });
    let dials = 0;
    const dial: Dial = (options) => {
      if (dials++ === 0) return connect(options);
      return new Socket().destroy(new Error('no route'));
    };
    const failure = await failureOf(egressTo(local, { dial }).send(get(local.origin, { redirects: 'same-origin' })));
    expect(failure).to.include({ kind: 'unreachable', sent: true });
    expect(dials).to.equal(2);
  });
});
