import { expect } from 'chai';
import fc from 'fast-check';
import { readTokenResponse, type TokenResponse } from '../../../core/oauth/token-response.ts';

const AT = 1_750_000_000_000;

function read(body: unknown, separator = ' '): Promise<TokenResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readTokenResponse(new Response(text), { scopeSeparator: separator, requestedAt: AT });
}

/** Returns the tokens in plain text, for comparison; undefined if the response was rejected. */
async function tokens(body: unknown, separator?: string) {
  const answer = await read(body, separator);
  if (answer.kind !== 'tokens') return undefined;
  const { accessToken, refreshToken, ...rest } = answer.tokens;
  return { accessToken: accessToken.reveal(), refreshToken: refreshToken?.reveal() ?? null, ...rest };
}

describe('reading the response of a token endpoint (R5)', () => {
  const GOOD = { access_token: 'at', token_type: 'Bearer', expires_in: 3600, refresh_token: 'rt', scope: 'a b' };

  it('reads a complete response', async () => {
    expect(await tokens(GOOD)).to.deep.equal({
      accessToken: 'at',
      refreshToken: 'rt',
      scopes: ['a', 'b'],
      expiresAt: AT + 3_600_000,
    });
  });

  it('reads a form-encoded response', async () => {
    const form = 'access_token=gho_1&expires_in=28800&refresh_token=ghr_1&scope=repo%2Cgist&token_type=bearer';
    expect(await tokens(form)).to.deep.equal({
      accessToken: 'gho_1',
      refreshToken: 'ghr_1',
      scopes: ['repo', 'gist'],
      expiresAt: AT + 28_800_000,
    });
  });

  describe('reads as the expiry of the token', () => {
    const cases: [title: string, expiresIn: unknown, ms: number | null][] = [
      ['seconds', 60, 60_000],
      ['seconds in a string', '60', 60_000],
      ['a part of a second', 1.5, 1500],
      ['a part of a second in a string', '1.5', 1500],
      ['nothing when it is missing', undefined, null],
      ['nothing when it is null', null, null],
      ['nothing when it is negative', -1, null],
      ['nothing when it is zero', 0, null],
      ['nothing when it is empty', '', null],
      ['nothing when it is a word', 'never', null],
      ['nothing when it has a unit', '3600s', null],
      ['nothing when it is a list', [3600], null],
      ['nothing when it is a boolean', true, null],
      ['nothing when no calendar has that day', 1e15, null],
      ['nothing when it is a number of many digits', '9'.repeat(40), null],
    ];
    for (const [title, expiresIn, ms] of cases) {
      it(title, async () => {
        const answer = await tokens({ ...GOOD, expires_in: expiresIn });
        expect(answer?.expiresAt).to.equal(ms === null ? null : AT + ms);
        expect(answer?.accessToken).to.equal('at');
      });
    }

    it('nothing if it is beyond the range of numbers', async () => {
      expect((await tokens('{"access_token":"at","expires_in":1e309}'))?.expiresAt).to.equal(null);
    });
  });

  describe('keeps the current refresh token if the response has', () => {
    const cases: [title: string, value: unknown][] = [
      ['none', undefined],
      ['an empty one', ''],
      ['null', null],
      ['a number', 7],
      ['one of a size that no token has', 'r'.repeat(20_000)],
    ];
    for (const [title, value] of cases) {
      it(title, async () => expect((await tokens({ ...GOOD, refresh_token: value }))?.refreshToken).to.equal(null));
    }
  });

  describe('reads scopes', () => {
    const cases: [title: string, scope: unknown, separator: string, expected: string[] | null][] = [
      ['between spaces', 'a b', ' ', ['a', 'b']],
      ['between commas', 'a,b', ',', ['a', 'b']],
      ['between commas where requests use spaces', 'repo,gist', ' ', ['repo', 'gist']],
      ['between commas and spaces', 'a, b', ',', ['a', 'b']],
      ['between plus signs where requests do so', 'a+b', '+', ['a', 'b']],
      ['that contain a plus sign elsewhere', 'a+b', ' ', ['a+b']],
      ['in a list', ['a', 'b'], ' ', ['a', 'b']],
      ['once each', 'a a b', ' ', ['a', 'b']],
      ['narrower than before, as they are', 'a', ' ', ['a']],
      ['not at all when there are none', undefined, ' ', null],
      ['not at all when they are empty', '', ' ', null],
      ['not at all when they are something else', { a: 1 }, ' ', null],
    ];
    for (const [title, scope, separator, expected] of cases) {
      it(title, async () =>
        expect((await tokens({ ...GOOD, scope }, separator))?.scopes ?? null).to.deep.equal(expected),
      );
    }
  });

  describe('accepts the token type', () => {
    for (const type of ['Bearer', 'bearer', 'BEARER', 'bot', 'user', '', undefined]) {
      it(String(type), async () => expect((await tokens({ ...GOOD, token_type: type }))?.accessToken).to.equal('at'));
    }
  });

  describe('rejects', () => {
    const { access_token: _none, ...withoutToken } = GOOD;
    const cases: [title: string, body: unknown][] = [
      ['a page', '<!doctype html><html><body>Sign in</body></html>'],
      ['a page that mentions a token', '<a href="/x?a=1&access_token=stolen&b=2">here</a>'],
      ['nothing', ''],
      ['half of a JSON text', '{"access_token":"at"'],
      ['a list', [GOOD]],
      ['a string', '"at"'],
      ['null', 'null'],
      ['something huge', { ...GOOD, padding: 'x'.repeat(300_000) }],
      ['very deep nesting', '['.repeat(200_000)],
      ['an answer without a token', withoutToken],
      ['an empty token', { ...GOOD, access_token: '' }],
      ['a token that is no string', { ...GOOD, access_token: { token: 'at' } }],
      ['a token that would break a header', { ...GOOD, access_token: 'at\r\nx: y' }],
      ['a token outside of ASCII', { ...GOOD, access_token: 'ät' }],
      ['a token of a size that no token has', { ...GOOD, access_token: 'a'.repeat(20_000) }],
      ['a token bound to a key', { ...GOOD, token_type: 'DPoP' }],
      ['a token that signs', { ...GOOD, token_type: 'mac' }],
    ];
    for (const [title, body] of cases) {
      it(title, async () => expect((await read(body)).kind).to.equal('unreadable'));
    }
  });

  describe('finds the error', () => {
    const cases: [title: string, body: unknown, code: string][] = [
      ['of the standard', { error: 'invalid_grant', error_description: 'expired' }, 'invalid_grant'],
      ['in an answer that says ok: false', { ok: false, error: 'token_revoked' }, 'token_revoked'],
      ['in a form', 'error=bad_refresh_token&error_description=expired', 'bad_refresh_token'],
      ['in an object with a code', { error: { code: 'invalid_grant', message: 'x' } }, 'invalid_grant'],
      ['in an object with a type', { error: { type: 'OAuthException' } }, 'oauthexception'],
      ['beside a token', { ...GOOD, error: 'invalid_grant' }, 'invalid_grant'],
      ['in capitals', { error: 'INVALID_GRANT' }, 'invalid_grant'],
      ['that is a sentence, without a code', { error: 'Token has been revoked' }, ''],
    ];
    for (const [title, body, code] of cases) {
      it(title, async () => expect(await read(body)).to.deep.equal({ kind: 'error', code }));
    }

    it('returns none for a body that is not an error', async () => {
      for (const error of ['', null, false, 0]) expect((await tokens({ ...GOOD, error }))?.accessToken).to.equal('at');
    });
  });

  it('never throws, and never invents a token', async () => {
    const body = fc.oneof(fc.json(), fc.string(), fc.webQueryParameters());
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const found = await tokens(text);
        if (found) expect(decodeURIComponent(text)).to.contain(found.accessToken);
      }),
      { numRuns: 500 },
    );
  });
});
