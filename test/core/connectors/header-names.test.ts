import { expect } from 'chai';
import { isCallerHeader, isCredentialHeader } from '../../../core/connectors/header-names.ts';
import { FRAMING_HEADERS } from '../../../core/net/framing-headers.ts';

describe('names of headers (E2)', () => {
  for (const name of [...FRAMING_HEADERS, 'Host', 'Proxy-Authorization', 'proxy-any', 'Cookie', 'a b', 'a\r\nb', '']) {
    it(`${JSON.stringify(name)} can be set neither by callers nor by patterns`, () => {
      expect([isCallerHeader(name), isCredentialHeader(name)]).to.deep.equal([false, false]);
    });
  }

  for (const name of ['Authorization', 'Set-Cookie', 'X-HTTP-Method-Override', 'X-Forwarded-For', 'Sec-Fetch-Site']) {
    it(`${name} cannot be set by callers`, () => {
      expect(isCallerHeader(name)).to.equal(false);
    });
  }

  it('other names can be set by callers and by patterns', () => {
    for (const name of ['Accept', 'If-None-Match', 'X-Api-Key', 'content-type'])
      expect([isCallerHeader(name), isCredentialHeader(name)], name).to.deep.equal([true, true]);
  });
});
