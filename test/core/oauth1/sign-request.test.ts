import { expect } from 'chai';
import { OAuthConfigError } from '../../../core/oauth/config-error.ts';
import {
  previewSignedRequest,
  type Signing,
  type SigningRules,
  signRequest,
} from '../../../core/oauth1/sign-request.ts';
import { Secret } from '../../../core/secret.ts';
import type { OutboundRequest } from '../../../core/tools/wire.ts';

const AT = 1_750_000_000_999;
const CLIENT = { key: 'a key', secret: new Secret('client-secret') };
const TOKEN = { token: new Secret('to/ken'), secret: new Secret('token-secret') };
const RULES: SigningRules = { signatureMethod: 'HMAC-SHA1', placement: 'header' };
const GET: OutboundRequest = {
  method: 'GET',
  url: 'https://api.example/a?b=1',
  headers: { accept: 'x' },
  body: undefined,
};
const FORM: OutboundRequest = {
  method: 'POST',
  url: 'https://api.example/a?b=1',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'c=2',
};

function signing(rules: Partial<SigningRules> = {}): Signing {
  let calls = 0;
  return {
    client: CLIENT,
    token: TOKEN,
    rules: { ...RULES, ...rules },
    now: () => AT,
    random: (size) => Buffer.alloc(size, ++calls),
  };
}

function parametersIn(header = ''): Record<string, string> {
  const pairs = [...header.matchAll(/(\w+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
}

describe('signing a request with OAuth 1.0a', () => {
  it('adds the parameters of the protocol to the header, and does not change the rest', () => {
    const signed = signRequest(GET, signing());
    expect(signed).to.deep.include({ method: 'GET', url: 'https://api.example/a?b=1', body: undefined });
    expect(signed.headers['accept']).to.equal('x');
    const { oauth_signature, ...others } = parametersIn(signed.headers['authorization']);
    expect(others).to.deep.equal({
      oauth_consumer_key: 'a key',
      oauth_token: 'to/ken',
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: '1750000000',
      oauth_nonce: '01'.repeat(12),
      oauth_version: '1.0',
    });
    expect(oauth_signature).to.match(/^[\w+/]{27}=$/);
    expect(GET.headers).to.deep.equal({ accept: 'x' });
  });

  it('makes a new nonce each time', () => {
    const same = signing();
    const [first, second] = [signRequest(GET, same), signRequest(GET, same)];
    expect(first.headers['authorization']).not.to.equal(second.headers['authorization']);
  });

  it('appends the parameters to an existing query', () => {
    const signed = signRequest(GET, signing({ placement: 'query' }));
    expect(signed.url).to.match(/^https:\/\/api\.example\/a\?b=1&oauth_consumer_key=a%20key&oauth_token=to%2Fken&/);
    expect(signed.headers).to.deep.equal({ accept: 'x' });
    const bare = signRequest({ ...GET, url: 'https://api.example#f' }, signing({ placement: 'query' }));
    expect(bare.url).to.match(/^https:\/\/api\.example\/\?oauth_consumer_key=/);
  });

  it('adds the parameters to a form, and to the query of a request without a form', () => {
    const rules = { placement: 'body' } as const;
    expect(signRequest(FORM, signing(rules)).body).to.match(/^c=2&oauth_consumer_key=/);
    expect(signRequest({ ...FORM, body: '' }, signing(rules)).body).to.match(/^oauth_consumer_key=/);
    expect(signRequest(GET, signing(rules)).url).to.match(/b=1&oauth_consumer_key=/);
    const json = { ...FORM, headers: { 'content-type': 'application/json' }, body: '{}' };
    const signed = signRequest(json, signing(rules));
    expect([signed.body, signed.url.includes('oauth_signature=')]).to.deep.equal(['{}', true]);
  });

  it('covers forms and queries, but no other bodies', () => {
    const signatureOf = (request: OutboundRequest) =>
      parametersIn(signRequest(request, signing()).headers['authorization'])['oauth_signature'];
    expect(signatureOf({ ...FORM, body: 'c=3' })).not.to.equal(signatureOf(FORM));
    expect(signatureOf({ ...FORM, url: 'https://api.example/a?b=2' })).not.to.equal(signatureOf(FORM));
    const json = { ...FORM, headers: { 'content-type': 'application/json' } };
    expect(signatureOf({ ...json, body: '{"a":1}' })).to.equal(signatureOf({ ...json, body: '{"a":2}' }));
  });

  it('quotes the realm so that no character in it can end the quotation', () => {
    const signed = signRequest(GET, signing({ realm: 'a "b" \\c' }));
    expect(signed.headers['authorization']).to.match(/^OAuth realm="a \\"b\\" \\\\c", oauth_consumer_key=/);
  });

  it('refuses to send the key over an unencrypted connection', () => {
    const rules = { signatureMethod: 'PLAINTEXT' } as const;
    const plain = { ...GET, url: 'http://api.example/' };
    expect(() => signRequest(plain, signing(rules))).to.throw(OAuthConfigError, /https/);
    expect(parametersIn(signRequest(GET, signing(rules)).headers['authorization'])).to.include({
      oauth_signature: 'client-secret&token-secret',
    });
  });

  it('never outputs a secret, and in a preview not even the token', () => {
    for (const placement of ['header', 'query', 'body'] as const) {
      const signed = JSON.stringify(signRequest(FORM, signing({ placement })));
      expect(signed).not.to.match(/client-secret|token-secret/);
      const preview = JSON.stringify(previewSignedRequest(FORM, CLIENT, { ...RULES, placement }));
      expect(preview).to.include('[secret]').and.include('a%20key').and.not.include('to%2Fken');
    }
    const { headers } = previewSignedRequest(GET, CLIENT, RULES);
    expect(headers['authorization']).to.equal(
      'OAuth oauth_consumer_key="a%20key", oauth_token="[secret]", oauth_signature_method="HMAC-SHA1", ' +
        'oauth_timestamp="[secret]", oauth_nonce="[secret]", oauth_version="1.0", oauth_signature="[secret]"',
    );
  });
});
