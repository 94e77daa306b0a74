import { connect } from 'node:net';
import { expect } from 'chai';
import { closeAll, egressTo, failureOf, get, type Local, serve, strictEgress } from './local.ts';

/** Spellings of loopback and metadata addresses that filters have been known to miss. `PORT` is that of a listener. */
const FORMS = [
  'localhost',
  'LOCALHOST',
  'lOcAlHoSt',
  'localhost.',
  'api.localhost',
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.000.000.001',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '0X7F.0x0.0x0.0x1',
  '127.127.127.127',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  'ｌｏｃａｌｈｏｓｔ',
  'loc%61lhost',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[::1%lo]',
  '[::1%25lo]',
  '[fe80::1%25lo]',
  'user@127.0.0.1',
  'user:password@127.0.0.1',
  'api.example.com@127.0.0.1',
  'api.example.com%40@127.0.0.1',
  '127.0.0.1#@api.example.com',
  '127.0.0.1?@api.example.com',
  '127.0.0.1\\@api.example.com',
  '169.254.169.254',
  '169.254.169.254.',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '0xa9.0xfe.0xa9.0xfe',
  '169.254.43518',
  '169.16689662',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '10.0.0.1',
  '192.168.1.1',
  '172.16.0.1',
  '255.255.255.255',
  '224.0.0.1',
];

describe('spellings of forbidden addresses (P1)', () => {
  let local: Local;
  beforeEach(async () => {
    local = await serve((_request, response) => response.end('reached'));
  });
  afterEach(closeAll);

  it('would reach the listener if they were allowed (control)', async () => {
    expect((await egressTo(local).send(get(`http://2130706433:${local.port}/`))).body.toString()).to.equal('reached');
    expect(local.connections).to.equal(1);
  });

  for (const form of FORMS) {
    it(`opens no connection for ${form}`, async () => {
      let dials = 0;
      // The resolver would return loopback: each notation must be rejected before it is resolved.
      let asked = 0;
      const egress = strictEgress({
        dial: (options) => {
          dials++;
          return connect(options);
        },
        resolver: async () => {
          asked++;
          return ['127.0.0.1'];
        },
      });
      for (const address of [`http://${form}:${local.port}/`, `https://${form}:${local.port}/`, `https://${form}/`]) {
        const check = egress.check(address);
        expect(check.ok, address).to.equal(false);
        if (!URL.canParse(address)) continue;
        expect(await failureOf(egress.send(get(address))), address).to.include({ kind: 'blocked', sent: false });
        expect(await failureOf(egress.fetchLike(address)), address).to.include({ kind: 'blocked', sent: false });
      }
      expect({ dials, asked, connections: local.connections }).to.deep.equal({ dials: 0, asked: 0, connections: 0 });
    });
  }
});

describe('Egress.check', () => {
  afterEach(closeAll);

  it('accepts addresses that may be stored, and says why it rejects the others', () => {
    const egress = strictEgress();
    expect(egress.check('https://api.example.com/v1')).to.deep.include({ ok: true });
    expect(egress.check(new URL('https://api.example.com/v1'))).to.deep.include({ ok: true });
    expect(egress.check('http://api.example.com/')).to.deep.equal({
      ok: false,
      reason: 'Only https URLs can be called.',
    });
    expect(egress.check('api.example.com')).to.deep.equal({ ok: false, reason: 'The address is not a URL.' });
  });
});
