import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { makeCertificate } from '../../support/tls/certificates.ts';
import { closeAll, egressTo, failureOf, get, listen, serve, serveTls } from './local.ts';

const authority = makeCertificate({ name: 'Test authority', authority: true });
const altNames = ['127.0.0.1'];
const good = makeCertificate({ name: 'good', altNames, issuer: authority });
const ca = [authority.cert];
const lastYear = new Date('2025-01-01T00:00:00Z');
const nextCentury = new Date('2098-01-01T00:00:00Z');

describe('encrypted connections (E8)', () => {
  afterEach(closeAll);

  it('are made with a certificate of the operator’s private authority', async () => {
    const local = await serveTls(good, (_request, response) => response.end('trusted'));
    const egress = egressTo(local, { ca });
    expect((await egress.send(get(local.origin))).body.toString()).to.equal('trusted');
    expect(await (await egress.fetchLike(local.origin)).text()).to.equal('trusted');
  });

  const refused: [string, ReturnType<typeof makeCertificate>, readonly string[]][] = [
    ['of an authority that is not trusted', good, []],
    ['that is self-signed', makeCertificate({ name: 'self', altNames }), ca],
    ['for another host', makeCertificate({ name: '127.0.0.1', altNames: ['a.example'], issuer: authority }), ca],
    ['that has expired', makeCertificate({ name: 'old', altNames, issuer: authority, notAfter: lastYear }), ca],
    [
      'that is not valid yet',
      makeCertificate({ name: 'new', altNames, issuer: authority, notBefore: nextCentury }),
      ca,
    ],
    [
      'signed by one that is no authority',
      makeCertificate({ name: 'leaf', altNames, issuer: good }),
      [...ca, good.cert],
    ],
  ];
  for (const [what, certificate, trusted] of refused) {
    it(`are refused with a certificate ${what}`, async () => {
      const local = await serveTls(certificate, (_request, response) => response.end());
      const egress = egressTo(local, { ca: trusted });
      expect(await failureOf(egress.send(get(local.origin)))).to.include({ kind: 'tls', sent: false });
      expect(await failureOf(egress.fetchLike(local.origin))).to.include({ kind: 'tls', sent: false });
      expect(local.requests).to.have.length(0);
    });
  }

  it('cannot be weakened by the options of a protocol call', async () => {
    const local = await serveTls(good, (_request, response) => response.end());
    const loose = { https: { rejectUnauthorized: false, checkServerIdentity: () => undefined } };
    const failure = await failureOf(egressTo(local).protocol(local.origin, loose));
    expect(failure).to.include({ kind: 'tls', sent: false });
    expect(local.requests).to.have.length(0);
  });

  it('are made with TLS 1.2 and 1.3', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { cert, key } = good;
      const server = createServer({ cert, key, minVersion: version, maxVersion: version });
      server.on('request', (request, response) => response.end((request.socket as TLSSocket).getProtocol()));
      const local = await listen(server, 'https');
      expect((await egressTo(local, { ca }).send(get(local.origin))).body.toString()).to.equal(version);
    }
  });

  it('are not replaced by plain ones when the server speaks plain http', async () => {
    const local = await serve((_request, response) => response.end());
    const failure = await failureOf(egressTo(local).send(get(local.origin.replace('http:', 'https:'))));
    expect(failure).to.include({ kind: 'tls', sent: false });
    expect(local.requests).to.have.length(0);
  });
});
