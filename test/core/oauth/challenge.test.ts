import { expect } from 'chai';
import { readBearerChallenge } from '../../../core/oauth/challenge.ts';

describe('a Bearer challenge', () => {
  it('is read with its error, scopes and the address of the metadata', () => {
    const header =
      'Bearer error="insufficient_scope", scope="files:read files:write", resource_metadata="https://a.example/m", error_description="more, please"';
    expect(readBearerChallenge(header)).to.deep.equal({
      error: 'insufficient_scope',
      scopes: ['files:read', 'files:write'],
      resourceMetadata: 'https://a.example/m',
    });
  });

  it('is found among other challenges, in one header or several, in any case', () => {
    expect(readBearerChallenge('Basic realm="bearer scope=x", bearer scope=read')).to.deep.equal({ scopes: ['read'] });
    expect(readBearerChallenge(['Basic realm="a"', 'BEARER Scope="read"'])).to.deep.equal({ scopes: ['read'] });
    expect(readBearerChallenge('Bearer')).to.deep.equal({});
  });

  it('is read with escapes, tokens and unusual spaces', () => {
    expect(readBearerChallenge('Bearer realm="a\\"b, scope=\\"no\\"" ,  scope = read')).to.deep.equal({
      scopes: ['read'],
    });
  });

  it('X3: is not found in a quoted string of another challenge, and has no parameters of the next one', () => {
    const header = 'Basic realm="x, Bearer scope=evil", Bearer scope="a", resource_metadata="https://a.example/m"';
    const expected = { scopes: ['a'], resourceMetadata: 'https://a.example/m' };
    expect(readBearerChallenge(header)).to.deep.equal(expected);
    expect(readBearerChallenge('Digest realm="a \\", Bearer scope=evil"')).to.equal(undefined);
    expect(readBearerChallenge('Bearer error="invalid_token", Other scope="evil", x="y"')).to.deep.equal({
      error: 'invalid_token',
    });
    expect(readBearerChallenge('Bearer, Other scope="evil"')).to.deep.equal({});
    expect(readBearerChallenge('Bearer scope = "a" , error = invalid_token')).to.deep.equal({
      scopes: ['a'],
      error: 'invalid_token',
    });
  });

  it('is undefined without a header or with another scheme', () => {
    for (const header of [null, undefined, '', 'Basic realm="a"', 'DPoP error="invalid_token"', 'Bearerish scope=a']) {
      expect(readBearerChallenge(header), String(header)).to.equal(undefined);
    }
  });

  it('contains no scope with characters that a request cannot carry', () => {
    expect(readBearerChallenge('Bearer scope="ok b\\"ad \u00e9 also-ok"')).to.deep.equal({ scopes: ['ok', 'also-ok'] });
    expect(readBearerChallenge(`Bearer scope="${'a '.repeat(1000)}"`)?.scopes).to.have.length(100);
  });
});
