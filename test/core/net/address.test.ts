import { expect } from 'chai';
import fc from 'fast-check';
import { type AddressClass, addressClass, canonicalAddress } from '../../../core/net/address.ts';
import { interfaceAddresses } from '../../../core/net/own-addresses.ts';

/** Addresses of each class, such as the first and last one of its blocks. */
const TABLE: readonly [AddressClass, readonly string[]][] = [
  ['unspecified', ['0.0.0.0', '0.255.255.255', '::']],
  ['private', ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255']],
  ['carrierGradeNat', ['100.64.0.0', '100.100.100.200', '100.127.255.255']],
  ['loopback', ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1']],
  ['linkLocal', ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::', 'febf:ffff::1']],
  ['cloudMetadata', ['168.63.129.16']],
  ['protocolAssignments', ['192.0.0.0', '192.0.0.192', '192.0.0.255', '2001:1::1', '2001:1ff:ffff::']],
  ['relayAnycast', ['192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1', '2620:4f:8000::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff:ffff::']],
  ['benchmark', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
  ['multicast', ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff:ffff::']],
  ['reserved', ['240.0.0.0', '255.255.255.254']],
  ['broadcast', ['255.255.255.255']],
  ['ipv4Mapped', ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '0:0:0:0:0:ffff:a9fe:a9fe']],
  ['ipv4Compatible', ['::127.0.0.1', '::8.8.8.8', '::2', '::a9fe:a9fe']],
  ['ipv4Translated', ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8']],
  ['nat64', ['64:ff9b::127.0.0.1', '64:ff9b::808:808', '64:ff9b:1::1', '64:ff9b:1:ffff::a9fe:a9fe']],
  ['sixToFour', ['2002:7f00:1::', '2002:808:808::1', '2002:ffff:ffff::']],
  ['teredo', ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2']],
  ['uniqueLocal', ['fc00::', 'fd00:ec2::254', 'fdff:ffff::1']],
  ['siteLocal', ['fec0::1', 'feff::1']],
  ['unassigned', ['64:ff9a::1', '100::1', '1fff:ffff::1', '4000::1', '5f00::1', 'e000::1']],
  [
    'invalid',
    [
      '',
      ' 8.8.8.8',
      '8.8.8',
      '0177.0.0.1',
      '0x7f.0.0.1',
      '2130706433',
      'localhost',
      '[::1]',
      'fe80::1%eth0',
      '2606:4700::1%1',
    ],
  ],
  ['public', ['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0']],
  ['public', ['168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0']],
  ['public', ['192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255']],
  [
    'public',
    ['2000::1', '2001:200::1', '2606:4700:4700::1111', '2a00:1450:4001::200e', '3ffe:ffff::1', '3fff:1000::1'],
  ],
];

describe('addressClass', () => {
  for (const [name, addresses] of TABLE) {
    for (const address of addresses) {
      it(`calls ${JSON.stringify(address)} ${name}`, () => {
        expect(addressClass(address)).to.equal(name);
      });
    }
  }

  it('agrees for every IPv4 address with the registry read as number ranges', () => {
    const ranges = [
      [0x00000000, 0x00ffffff],
      [0x0a000000, 0x0affffff],
      [0x64400000, 0x647fffff],
      [0x7f000000, 0x7fffffff],
      [0xa83f8110, 0xa83f8110],
      [0xa9fe0000, 0xa9feffff],
      [0xac100000, 0xac1fffff],
      [0xc0000000, 0xc00000ff],
      [0xc0000200, 0xc00002ff],
      [0xc01fc400, 0xc01fc4ff],
      [0xc034c100, 0xc034c1ff],
      [0xc0586300, 0xc05863ff],
      [0xc0a80000, 0xc0a8ffff],
      [0xc0af3000, 0xc0af30ff],
      [0xc6120000, 0xc613ffff],
      [0xc6336400, 0xc63364ff],
      [0xcb007100, 0xcb0071ff],
      [0xe0000000, 0xffffffff],
    ] as const;
    const near = fc
      .tuple(fc.constantFrom(...ranges.flat()), fc.integer({ min: -2, max: 2 }))
      .map(([edge, step]) => (edge + step) >>> 0);
    fc.assert(
      fc.property(fc.oneof(near, fc.nat({ max: 0xffffffff })), (number) => {
        const special = ranges.some(([first, last]) => number >= first && number <= last);
        expect(addressClass(dotted(number)) === 'public').to.equal(!special);
      }),
      { numRuns: 2000 },
    );
  });

  it('never classifies an address that embeds an IPv4 address as public', () => {
    const carriers = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'];
    fc.assert(
      fc.property(fc.constantFrom(...carriers), fc.nat({ max: 0xffffffff }), (prefix, number) => {
        expect(addressClass(prefix + dotted(number))).not.to.equal('public');
      }),
    );
  });
});

describe('canonicalAddress', () => {
  it('returns one spelling of each address and does not change other text', () => {
    expect(canonicalAddress('2606:4700:0:0::1')).to.equal(canonicalAddress('2606:4700::0001'));
    expect(canonicalAddress('8.8.8.8')).to.equal('8.8.8.8');
    expect(canonicalAddress('example.com')).to.equal('example.com');
  });
});

function dotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}

describe('interfaceAddresses', () => {
  it('lists the addresses of this machine, all of them valid', () => {
    const addresses = interfaceAddresses();
    expect(addresses).to.include('127.0.0.1');
    for (const address of addresses) expect(addressClass(address)).not.to.equal('invalid');
  });
});
