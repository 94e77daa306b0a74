import { expect } from 'chai';
import { clientOf, parseTrustedProxies } from '../../../core/net/client-address.ts';

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
