import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeParameters, type Parameter, parameter, readParameters } from '../../../core/oauth1/parameters.ts';
import { type SignatureMethod, signatureBaseString, signatureOf } from '../../../core/oauth1/signature.ts';
import { Secret } from '../../../core/secret.ts';

interface Vector {
  title: string;
  method: string;
  url: string;
  body?: string;
  protocol: Record<string, string>;
  client: string;
  token?: string;
  signature: string;
}

const PHOTOS = { oauth_consumer_key: 'dpf43f3p2l4k3l03', oauth_signature_method: 'HMAC-SHA1' };

/** Published signatures that many implementations have reproduced. */
const VECTORS: Vector[] = [
  {
    title: 'RFC 5849 §1.2, temporary credentials',
    method: 'POST',
    url: 'https://photos.example.net/initiate',
    protocol: {
      ...PHOTOS,
      oauth_timestamp: '137131200',
      oauth_nonce: 'wIjqoS',
      oauth_callback: 'http://printer.example.com/ready',
    },
    client: 'kd94hf93k423kf44',
    signature: '74KNZJeDHnMBp0EMJ9ZHt/XKycU=',
  },
  {
    title: 'RFC 5849 §1.2, token credentials',
    method: 'POST',
    url: 'https://photos.example.net/token',
    protocol: {
      ...PHOTOS,
      oauth_token: 'hh5s93j4hdidpola',
      oauth_timestamp: '137131201',
      oauth_nonce: 'walatlh',
      oauth_verifier: 'hfdp7dh39dks9884',
    },
    client: 'kd94hf93k423kf44',
    token: 'hdhd0244k9j7ao03',
    signature: 'gKgrFCywp7rO0OXSjdot/IHF7IU=',
  },
  {
    title: 'RFC 5849 §1.2, a call',
    method: 'GET',
    url: 'http://photos.example.net/photos?file=vacation.jpg&size=original',
    protocol: { ...PHOTOS, oauth_token: 'nnch734d00sl2jdk', oauth_timestamp: '137131202', oauth_nonce: 'chapoH' },
    client: 'kd94hf93k423kf44',
    token: 'pfkkdhi9sl3r4s00',
    signature: 'MdpQcU8iPSUjWoN/UDMsK2sui9I=',
  },
  {
    title: 'RFC 5849 §3.4.1.1, query and form (as its errata correct it)',
    method: 'POST',
    url: 'http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b',
    body: 'c2&a3=2+q',
    protocol: {
      oauth_consumer_key: '9djdj82h48djs9d2',
      oauth_token: 'kkk9d7dh3k39sjv7',
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: '137131201',
      oauth_nonce: '7d8f3e4a',
    },
    client: 'j49sk3j29djd',
    token: 'dh893hdasih9',
    signature: 'r6/TJjbCOr97/+UU0NsvSne7s5g=',
  },
  {
    title: 'OAuth Core 1.0, appendix A',
    method: 'GET',
    url: 'http://photos.example.net/photos?file=vacation.jpg&size=original',
    protocol: {
      ...PHOTOS,
      oauth_token: 'nnch734d00sl2jdk',
      oauth_timestamp: '1191242096',
      oauth_nonce: 'kllo9940pd9333jh',
      oauth_version: '1.0',
    },
    client: 'kd94hf93k423kf44',
    token: 'pfkkdhi9sl3r4s00',
    signature: 'tR3+Ty81lMeYAr/Fid0kMTYa/WM=',
  },
  {
    title: "a large provider's own example",
    method: 'POST',
    url: 'https://api.twitter.com/1.1/statuses/update.json?include_entities=true',
    body: 'status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21',
    protocol: {
      oauth_consumer_key: 'xvz1evFS4wEEPTGEFPHBog',
      oauth_nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg',
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: '1318622958',
      oauth_token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
      oauth_version: '1.0',
    },
    client: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
    token: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
    signature: 'hCtSmYh+iHYCEqBWrE7C7hYmtUk=',
  },
];

function baseStringOf({ method, url, body = '', protocol }: Vector): string {
  const parsed = new URL(url);
  const parameters = [
    ...readParameters(parsed.search.slice(1)),
    ...readParameters(body),
    ...Object.entries(protocol).map(([name, value]) => parameter(name, value)),
  ];
  return signatureBaseString(method, parsed, parameters);
}

function sign(text: string, client: string, token?: string, method: SignatureMethod = 'HMAC-SHA1'): string {
  const secrets = { client: new Secret(client), token: token === undefined ? null : new Secret(token) };
  return signatureOf(method, text, secrets);
}

describe('the signature of OAuth 1.0a', () => {
  for (const vector of VECTORS) {
    it(`equals that of ${vector.title}`, () => {
      expect(sign(baseStringOf(vector), vector.client, vector.token)).to.equal(vector.signature);
    });
  }

  it('is made over the base string of RFC 5849 §3.4.1.1', () => {
    const expected = [
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D',
      'oauth_consumer_key%3D9djdj82h48djs9d2',
      'oauth_nonce%3D7d8f3e4a',
      'oauth_signature_method%3DHMAC-SHA1',
      'oauth_timestamp%3D137131201',
      'oauth_token%3Dkkk9d7dh3k39sjv7',
    ].join('%26');
    expect(baseStringOf(VECTORS[3] as Vector)).to.equal(expected);
  });

  it('uses the address without default port, user, query and fragment, with a host in lower case (RFC 5849 §3.4.1.2)', () => {
    const cases: [string, string][] = [
      ['http://EXAMPLE.COM:80/r%20v/X?id=123', 'http://example.com/r%20v/X'],
      ['https://www.example.net:8080/?q=1', 'https://www.example.net:8080/'],
      ['https://a:b@www.example.net:443/p#f', 'https://www.example.net/p'],
    ];
    for (const [url, address] of cases) {
      expect(signatureBaseString('get', new URL(url), [])).to.equal(`GET&${encodeURIComponent(address)}&`);
    }
  });

  it('is the key itself with PLAINTEXT (RFC 5849 §3.4.4)', () => {
    expect(sign('anything', 'djr9rjt0jd78jf88', 'jjd999tj88uiths3', 'PLAINTEXT')).to.equal(
      'djr9rjt0jd78jf88&jjd999tj88uiths3',
    );
    expect(sign('anything', 'djr9rjt0jd78jf88', undefined, 'PLAINTEXT')).to.equal('djr9rjt0jd78jf88&');
    expect(sign('anything', 'a&b', 'c%d', 'PLAINTEXT')).to.equal('a%26b&c%25d');
  });

  it('depends on every part of the request', () => {
    const text = fc.string({ minLength: 1, unit: 'binary' });
    fc.assert(
      fc.property(text, text, text, text, (base, client, token, other) => {
        fc.pre(base !== other && client !== other && token !== other);
        // Lone surrogates all become the same replacement character, so texts that differ only in them have equal
        // signatures.
        fc.pre([base, client, token, other].every((each) => each.isWellFormed()));
        const signatures = [
          sign(base, client, token),
          sign(other, client, token),
          sign(base, other, token),
          sign(base, client, other),
          sign(base, client, token, 'HMAC-SHA256'),
        ];
        expect(new Set(signatures).size).to.equal(signatures.length);
      }),
    );
  });
});

describe('the parameters of OAuth 1.0a', () => {
  it('are encoded as RFC 5849 §3.6 and RFC 3986 §2.3 say', () => {
    const cases: [string, string][] = [
      ['abcABC123-._~', 'abcABC123-._~'],
      ['%', '%25'],
      ['+', '%2B'],
      [' ', '%20'],
      ["!*'()", '%21%2A%27%28%29'],
      ['&=*', '%26%3D%2A'],
      ['\n\u007f', '%0A%7F'],
      ['\u0080', '%C2%80'],
      ['\u3001', '%E3%80%81'],
      ['🔑', '%F0%9F%94%91'],
    ];
    for (const [text, encoded] of cases) expect(parameter(text, text)).to.deep.equal([encoded, encoded]);
  });

  it('are encoded reversibly, with unreserved characters and upper-case escapes only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const [encoded] = parameter(text, '');
        expect(encoded).to.match(/^(?:[\w.~-]|%[0-9A-F]{2})*$/);
        expect(decodeURIComponent(encoded)).to.equal(text.toWellFormed());
      }),
    );
  });

  it('are read from a query or a form by the rules of forms', () => {
    const pairs = fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })));
    fc.assert(
      fc.property(pairs, (list) => {
        const form = new URLSearchParams();
        for (const [name, value] of list) form.append(name.toWellFormed(), value.toWellFormed());
        const expected = list.map(([name, value]) => parameter(name, value));
        expect(readParameters(form.toString())).to.deep.equal(expected);
      }),
    );
  });

  it('are read byte by byte, even if the bytes are not valid text', () => {
    const cases: [string, Parameter[]][] = [
      [
        'a=%ff%FE&%e9',
        [
          ['a', '%FF%FE'],
          ['%E9', ''],
        ],
      ],
      ['a=%zz%', [['a', '%25zz%25']]],
      ['%61=%2D', [['a', '-']]],
      ['a=b=c', [['a', 'b%3Dc']]],
      ['a=1+2%2B3', [['a', '1%202%2B3']]],
      ["q='*'", [['q', '%27%2A%27']]],
      ['&&a&', [['a', '']]],
      ['', []],
    ];
    for (const [encoded, expected] of cases) expect(readParameters(encoded), encoded).to.deep.equal(expected);
  });

  it('are sorted by name, then by value, as bytes', () => {
    const given = ['a=2', 'a-b=1', 'a=10', 'a.c=1', 'B=1', 'a%20b=1', 'a1=1', 'a='].map(
      (pair) => pair.split('=') as unknown as Parameter,
    );
    expect(normalizeParameters(given)).to.equal('B=1&a=&a=10&a=2&a%20b=1&a-b=1&a.c=1&a1=1');
  });

  it('produce the same text in any order', () => {
    const pairs = fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 12 });
    fc.assert(
      fc.property(pairs, fc.nat(), (list, turn) => {
        const parameters = list.map(([name, value]) => parameter(name, value));
        const at = turn % (parameters.length + 1);
        const turned = [...parameters.slice(at), ...parameters.slice(0, at)].reverse();
        expect(normalizeParameters(turned)).to.equal(normalizeParameters(parameters));
      }),
    );
  });
});
