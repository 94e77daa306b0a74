import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import type { OutboundRequest } from '../../../core/tools/wire.ts';
import { type SigningCredentials, signRequestV4 } from '../../../core/trusted-idp/sign-v4.ts';

/** The credentials, scope and time of the published test suite of Signature Version 4. */
const CREDENTIALS: SigningCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
  sessionToken: null,
};
const SCOPE = { region: 'us-east-1', service: 'service' };
const AT = Date.UTC(2015, 7, 30, 12, 36, 0, 999);

function request(changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url: 'https://example.amazonaws.com/', headers: {}, body: undefined, ...changes };
}

function signed(changes: Partial<OutboundRequest>, credentials = CREDENTIALS): Record<string, string> {
  return signRequestV4(request(changes), credentials, SCOPE, AT).headers;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const VECTORS: [name: string, changes: Partial<OutboundRequest>, names: string, signature: string][] = [
  ['get-vanilla', {}, 'host;x-amz-date', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'post-vanilla',
    { method: 'POST' },
    'host;x-amz-date',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'get-vanilla-query-order-key-case',
    { url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1' },
    'host;x-amz-date',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-x-www-form-urlencoded',
    { method: 'POST', headers: FORM, body: 'Param1=value1' },
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
  [
    'get-header-value-trim',
    { headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' } },
    'host;my-header1;my-header2;x-amz-date',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
];

describe('AWS Signature Version 4', () => {
  for (const [name, changes, names, signature] of VECTORS) {
    it(`signs the published request ${name} as published`, () => {
      expect(signed(changes)['authorization']).to.equal(
        `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
      );
    });
  }

  it('adds the time in seconds, and does not change the request itself', () => {
    const before = request({ headers: FORM, body: 'a=1', method: 'POST', url: 'https://example.amazonaws.com' });
    const after = signRequestV4(before, CREDENTIALS, SCOPE, AT);
    expect(after).to.deep.include({ method: 'POST', url: 'https://example.amazonaws.com/', body: 'a=1' });
    expect(after.headers).to.include({ ...FORM, 'x-amz-date': '20150830T123600Z' });
    expect(after.headers).not.to.have.property('host');
    expect(before.headers).to.deep.equal(FORM);
  });

  it('adds a session token, and signs it', () => {
    const headers = signed({}, { ...CREDENTIALS, sessionToken: new Secret('token/1==') });
    expect(headers['x-amz-security-token']).to.equal('token/1==');
    expect(headers['authorization']).to.include('SignedHeaders=host;x-amz-date;x-amz-security-token,');
    const other = signed({}, { ...CREDENTIALS, sessionToken: new Secret('token/2==') });
    expect(other['authorization']).not.to.equal(headers['authorization']);
  });

  it('depends on every part of the request', () => {
    const base = { method: 'POST', url: 'https://example.amazonaws.com/a?b=c', headers: FORM, body: 'd=e' };
    const variants: Partial<OutboundRequest>[] = [
      base,
      { ...base, method: 'PUT' },
      { ...base, url: 'https://example2.amazonaws.com/a?b=c' },
      { ...base, url: 'https://example.amazonaws.com/b?b=c' },
      { ...base, url: 'https://example.amazonaws.com/a?b=d' },
      { ...base, headers: { 'content-type': 'text/plain' } },
      { ...base, body: 'd=f' },
      { ...base, body: undefined },
    ];
    const signatures = variants.map((variant) => signed(variant)['authorization']);
    const later = signRequestV4(request(base), CREDENTIALS, SCOPE, AT + 1000).headers['authorization'];
    const elsewhere = signRequestV4(request(base), CREDENTIALS, { ...SCOPE, region: 'x' }, AT).headers['authorization'];
    expect(new Set([...signatures, later, elsewhere]).size).to.equal(variants.length + 2);
  });

  it('never contains the secret', () => {
    expect(JSON.stringify(signed({ method: 'POST', body: 'x' }))).not.to.include('wJalr');
  });
});
