import { expect } from 'chai';
import { clientOf, createClientLookup, parseTrustedProxies } from '../../../core/net/client-address.ts';

describe('L4: the client of a connection', () => {
  for (const [address, client] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ] as const) {
    it(`of ${address} is ${client}`, () => {
      expect(clientOf(address)).to.equal(client);
    });
  }
});

describe('L4: the setting VALETKEY_TRUSTED_PROXIES', () => {
  it('names addresses and blocks of both families', () => {
    const isTrusted = parseTrustedProxies('10.0.0.0/8, 192.0.2.1 ,2001:db8::/32,::1');
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:db8:5::1', '::1']) {
      expect(isTrusted(address), address).to.equal(true);
    }
    for (const address of ['11.0.0.1', '192.0.2.2', '2001:db9::1', '::2', undefined]) {
      expect(isTrusted(address), String(address)).to.equal(false);
    }
  });

  it('trusts no address if it is empty', () => {
    expect(parseTrustedProxies(' , ')('127.0.0.1')).to.equal(false);
  });

  for (const bad of [
    'proxy.example',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0.0/x',
    'fe80::1%eth0',
    '*',
  ]) {
    it(`is refused: ${bad}`, () => {
      expect(() => parseTrustedProxies(`10.0.0.1,${bad}`)).to.throw(`VALETKEY_TRUSTED_PROXIES: "${bad}"`);
    });
  }
});

describe('S10: the client of a request', () => {
  const lookup = createClientLookup(parseTrustedProxies('10.0.0.0/8, ::1'));
  const from = (remoteAddress: string | undefined, forwarded?: string) =>
    lookup({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } });

  it('is the peer, regardless of forwarded addresses, unless the peer is a trusted proxy', () => {
    expect(from('203.0.113.9', '198.51.100.1')).to.equal('203.0.113.9');
    expect(from(undefined, '198.51.100.1')).to.equal('unknown');
    expect(
      createClientLookup(parseTrustedProxies(''))({
        socket: { remoteAddress: '10.0.0.1' },
        headers: { 'x-forwarded-for': '198.51.100.1' },
      }),
    ).to.equal('10.0.0.1');
  });

  it('is the last forwarded address that is not that of a trusted proxy', () => {
    expect(from('10.0.0.1', '198.51.100.1')).to.equal('198.51.100.1');
    expect(from('::ffff:10.0.0.1', ' 6.6.6.6 , 198.51.100.1, 10.2.3.4')).to.equal('198.51.100.1');
    expect(from('::1', '2001:db8:1:2::9')).to.equal('2001:db8:1:2::/64');
  });

  for (const forwarded of [undefined, '', ' , ', '10.0.0.7', 'unknown', '198.51.100.1, evil', '198.51.100.1:80']) {
    it(`is the proxy if it forwards ${JSON.stringify(forwarded)}`, () => {
      expect(from('10.0.0.1', forwarded)).to.equal('10.0.0.1');
    });
  }
});
