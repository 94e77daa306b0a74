import { expect } from 'chai';
import { closeAll, egressTo, failureOf, serve, strictEgress } from './local.ts';

describe('documents', () => {
  afterEach(closeAll);

  const document = { isDocument: true } as const;

  it('are fetched from permitted addresses only', async () => {
    const local = await serve((_request, response) => response.end('{}'));
    expect(await failureOf(strictEgress().fetchLike(local.origin, document))).to.include({
      kind: 'blocked',
      sent: false,
    });
    expect(local.connections).to.equal(0);
  });

  for (const status of [429, 502, 503, 504]) {
    it(`are fetched again after ${status}`, async () => {
      let asked = 0;
      const local = await serve((_request, response) => {
        response.writeHead(++asked < 3 ? status : 200).end('{"a":1}');
      });
      const answer = await egressTo(local).fetchLike(local.origin, document);
      expect([answer.status, await answer.json(), local.requests.length]).to.deep.equal([200, { a: 1 }, 3]);
    });
  }

  it('are fetched again when the connection ends without a response', async () => {
    let asked = 0;
    const local = await serve((request, response) => {
      if (++asked === 1) request.socket.destroy();
      else response.end('{}');
    });
    expect((await egressTo(local).fetchLike(local.origin, document)).status).to.equal(200);
  });

  it('are fetched three times at most, and once after other statuses or when the server asks for more time', async () => {
    for (const [status, retryAfter, times] of [
      [503, '', 3],
      [404, '', 1],
      [500, '', 1],
      [503, '60', 1],
      [503, '0', 3],
      [503, 'Wed, 21 Oct 2015 07:28:00 GMT', 3],
    ] as const) {
      const local = await serve((_request, response) => {
        response.writeHead(status, retryAfter === '' ? {} : { 'retry-after': retryAfter }).end();
      });
      expect((await egressTo(local).fetchLike(local.origin, document)).status).to.equal(status);
      expect(local.requests.length, String(status)).to.equal(times);
    }
  });

  it('are fetched through redirects within their origin, three at most', async () => {
    const local = await serve((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step < 3) response.writeHead(302, { location: `/${step + 1}` }).end();
      else response.end('{"found":true}');
    });
    const answer = await egressTo(local).fetchLike(`${local.origin}/0`, document);
    expect(await answer.json()).to.deep.equal({ found: true });
    const endless = await serve((_request, response) => response.writeHead(302, { location: '/' }).end());
    expect(await failureOf(egressTo(endless).fetchLike(endless.origin, document))).to.be.an('error');
    expect(endless.requests.length).to.equal(4);
  });

  it('are not fetched from another origin that a redirect names (E3)', async () => {
    const evil = await serve((_request, response) => response.end('{"issuer":"evil"}'));
    const local = await serve((_request, response) => response.writeHead(302, { location: evil.origin }).end());
    const answer = await egressTo([local, evil]).fetchLike(local.origin, document);
    expect([answer.status, evil.requests.length]).to.deep.equal([302, 0]);
  });

  it('are the only requests that are sent again or redirected', async () => {
    for (const status of [302, 503]) {
      const local = await serve((_request, response) => response.writeHead(status, { location: '/other' }).end());
      expect((await egressTo(local).fetchLike(local.origin, { method: 'POST', body: 'a=b' })).status).to.equal(status);
      expect((await egressTo(local).fetchLike(local.origin)).status).to.equal(status);
      expect(local.requests.length).to.equal(2);
    }
  });
});
