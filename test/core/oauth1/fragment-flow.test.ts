import { expect } from 'chai';
import fc from 'fast-check';
import { type FragmentFlow, fragmentAuthorizationUrl, readPostedToken } from '../../../core/oauth1/fragment-flow.ts';

const FLOW: FragmentFlow = {
  authorizeEndpoint: new URL('https://board.example/1/authorize'),
  keyParameter: 'key',
  returnParameter: 'return_url',
  authorizeParameters: {
    response_type: 'token',
    callback_method: 'fragment',
    scope: 'read,write',
    expiration: 'never',
    name: 'Valet & key',
    key: 'not this one',
  },
};
const TOKEN = 'ATTA0123456789abcdef0123456789abcdef';
const STATE = 'the-state-of-this-flow';

describe('the token-in-fragment flow', () => {
  it('redirects the user with the key and a return address that contains the state', () => {
    const url = fragmentAuthorizationUrl(
      FLOW,
      'k',
      new URL('https://valetkey.example/oauth/callback/conn_1'),
      'a&b=c#d',
    );
    expect(Object.fromEntries(url.searchParams)).to.deep.equal({
      ...FLOW.authorizeParameters,
      key: 'k',
      return_url: 'https://valetkey.example/oauth/callback/conn_1?state=a%26b%3Dc%23d',
    });
    expect(url.hash).to.equal('');
  });

  it('accepts the token that the page posts with the state of the flow', () => {
    const outcome = readPostedToken({ token: TOKEN, state: STATE }, STATE);
    expect(outcome.ok && outcome.token.reveal()).to.equal(TOKEN);
    expect(JSON.stringify(outcome)).not.to.include(TOKEN);
  });

  it('ignores everything without the state of the flow', () => {
    for (const state of [undefined, null, '', 'another', `${STATE} `, STATE.slice(1), [STATE], 7]) {
      const kind = 'mismatch';
      expect(readPostedToken({ token: TOKEN, state }, STATE)).to.deep.equal({ ok: false, kind });
      expect(readPostedToken({ error: 'denied', state }, STATE)).to.deep.equal({ ok: false, kind });
    }
  });

  it('returns false when the user declined', () => {
    for (const token of [undefined, '']) {
      const posted = { token, error: 'User denied', state: STATE };
      expect(readPostedToken(posted, STATE)).to.deep.equal({ ok: false, kind: 'refused' });
    }
  });

  it('rejects a token with characters that could break out of its place', () => {
    const wrong = [
      '',
      'short',
      `${TOKEN}\n`,
      `${TOKEN}\r\nx: y`,
      `${TOKEN}&key=k`,
      `${TOKEN}"`,
      `<b>${TOKEN}`,
      `${TOKEN} x`,
      'ü'.repeat(20),
    ];
    for (const token of [...wrong, 'a'.repeat(2049), [TOKEN], { toString: () => TOKEN }, 7, null]) {
      expect(readPostedToken({ token, state: STATE }, STATE)).to.deep.equal({ ok: false, kind: 'malformed' });
    }
  });

  it('returns a token or an error kind for any posted value', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.constantFrom(STATE, 'another'), (token, error, state) => {
        const outcome = readPostedToken({ token, error, state }, STATE);
        if (outcome.ok) expect(outcome.token.reveal()).to.match(/^[\w.~+/=-]+$/);
        else expect(outcome.kind).to.be.oneOf(['mismatch', 'refused', 'malformed']);
      }),
    );
  });
});
