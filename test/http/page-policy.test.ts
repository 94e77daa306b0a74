import { expect } from 'chai';
import type { PageReply } from '../../http/entry-points/pages.ts';
import { pageReply } from '../../http/entry-points/pages.ts';
import type { Exchange } from '../../http/pipeline/exchange.ts';
import { html } from '../../web/html.ts';

describe('the content security policy of pages', () => {
  const formActionOf = (kind: string, reply: Partial<PageReply> = {}) => {
    const exchange = { environment: { kind }, req: { method: 'GET' } } as unknown as Exchange;
    const { headers } = pageReply({ status: 200, page: html``, ...reply } as PageReply, exchange);
    return /form-action ([^;]*)/.exec(headers['content-security-policy'] ?? '')?.[1];
  };

  it('allows forms of a production environment to lead to https only', () => {
    expect(formActionOf('PRODUCTION')).to.equal("'self' https:");
  });

  it("adds exactly the address of a login that returns to a program on the user's machine", () => {
    expect(formActionOf('PRODUCTION', { formTarget: 'http://127.0.0.1:3456' })).to.equal(
      "'self' https: http://127.0.0.1:3456",
    );
    expect(formActionOf('PRODUCTION', { formTarget: 'cursor:' })).to.equal("'self' https: cursor:");
  });
});
