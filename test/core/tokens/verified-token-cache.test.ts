import { expect } from 'chai';
import { verificationKeys, verifyAccessToken } from '../../../core/tokens/access-token.ts';
import { VerifiedTokenCache } from '../../../core/tokens/verified-token-cache.ts';
import { EXPECTED, issue, keys, NOW, signingKeys } from './support.ts';

describe('the cache of verified tokens', () => {
  let cache: VerifiedTokenCache;
  const text = issue();
  const verify = (token = text, now = NOW) => cache.verify(token, keys, EXPECTED, now);

  beforeEach(() => {
    cache = new VerifiedTokenCache(10);
  });

  it('returns the result of the verifier, the first time and later', () => {
    const expected = verifyAccessToken(text, keys, EXPECTED, NOW);
    expect(expected.ok).to.equal(true);
    expect(verify()).to.deep.equal(expected);
    expect(verify()).to.deep.equal(expected);
  });

  it('checks the signature of a token once', () => {
    const first = verify();
    const second = verify();
    expect(first.ok && second.ok && first.token === second.token).to.equal(true);
  });

  it('drops an entry when the token expires, by the given clock', () => {
    verify();
    expect(verify(text, NOW + 3_599_999).ok).to.equal(true);
    expect(verify(text, NOW + 3_600_000)).to.include({ ok: false, reason: 'expired' });
    expect(cache.size).to.equal(0);
  });

  it('checks the times on every hit, also when the clock was set back', () => {
    verify();
    expect(verify(text, NOW - 31_000)).to.include({ ok: false, reason: 'not_yet_valid' });
    expect(verify().ok).to.equal(true);
  });

  it('checks audience and issuer on every hit (T8)', () => {
    verify();
    const elsewhere = { ...EXPECTED, audience: 'https://vault.example.com/mcp' };
    expect(cache.verify(text, keys, elsewhere, NOW)).to.include({ ok: false, reason: 'audience' });
    const other = { ...EXPECTED, issuer: 'https://other.example.com' };
    expect(cache.verify(text, keys, other, NOW)).to.include({ ok: false, reason: 'issuer' });
  });

  it('drops a token whose signing key was removed', () => {
    const old = issue({}, NOW, signingKeys.previous);
    expect(verify(old).ok).to.equal(true);
    const remaining = verificationKeys({ current: signingKeys.current });
    expect(cache.verify(old, remaining, EXPECTED, NOW)).to.deep.equal({ ok: false, reason: 'header' });
    expect(cache.size).to.equal(0);
  });

  it('stores no rejected token, and no other spelling of a valid one', () => {
    for (const wrong of [
      '',
      'x',
      `${text} `,
      `${text}=`,
      ` ${text}`,
      `${text.slice(0, -8)}AAAAAAAA`,
      'A'.repeat(5000),
    ]) {
      expect(verify(wrong).ok, wrong).to.equal(false);
    }
    expect(cache.size).to.equal(0);
    verify();
    expect(verify(`${text}\n`)).to.deep.equal({ ok: false, reason: 'malformed' });
    expect(cache.size).to.equal(1);
  });

  it('is bounded in size', () => {
    for (let index = 0; index < 30; index++) verify(issue({ clientId: `cli_${index}` }));
    expect(cache.size).to.equal(10);
  });
});
