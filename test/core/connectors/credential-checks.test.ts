import { expect } from 'chai';
import { builtInProvider } from '../../../core/connectors/provider.ts';
import { checkCall, verdictOf } from '../../../core/executions/credential-check.ts';
import type { ToolErrorKind, ToolOutcome } from '../../../core/tools/outcome.ts';
import { renderRequest } from '../../../core/tools/request.ts';
import { readCatalogueJson } from '../../support/catalogue-json.ts';

const connectors = Object.values(readCatalogueJson().connectors);
const checked = connectors.filter(({ check }) => check);

/** Account values that fit the addresses of a connector: an origin for its base, and a label in other places. */
function valuesFor(base: string | undefined): Record<string, string> {
  return new Proxy({} as Record<string, string>, {
    // The site of an account has a symbol as its name; these accounts have no site.
    get: (_values, name) => (typeof name === 'symbol' ? undefined : name === base ? 'https://api.example' : 'acme'),
    has: () => true,
    getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: 'acme' }),
  });
}

describe('the credential checks of connectors', () => {
  it('exist for most connectors', () => {
    expect(checked.length).to.be.at.least(55);
  });

  for (const connector of checked) {
    it(`${connector.identifier}: is a request below its base URL`, () => {
      const provider = builtInProvider(connector);
      for (const pattern of provider.authPatterns) {
        const call = checkCall({ provider, pattern, account: valuesFor(provider.api.base_url_input) });
        if (!call) throw new Error('there is no call');
        const { method, url } = renderRequest(call, { parts: [], secrets: [] }, { masked: false });
        expect(method).to.equal(connector.check?.method ?? 'GET');
        expect(new URL(url).pathname).to.match(new RegExp(`${(connector.check?.path ?? '').replace(/[@.]/g, '.')}$`));
      }
    });
  }
});

describe('verdictOf', () => {
  const provider = { ...builtInProvider(connectors[0] as never), displayName: 'Acme' };
  const failed = (kind: ToolErrorKind, upstreamStatus?: number): ToolOutcome => ({
    ok: false,
    sent: true,
    error: { kind, retryable: false, message: 'said', ...(upstreamStatus !== undefined && { upstreamStatus }) },
  });

  it('rejects a credential only for responses that mean a wrong credential', () => {
    expect(verdictOf(provider, failed('upstream_auth', 401)).verdict).to.equal('rejected');
    const others: ToolErrorKind[] = [
      'upstream_forbidden',
      'upstream_server_error',
      'upstream_unreachable',
      'service_busy',
    ];
    for (const kind of others) expect(verdictOf(provider, failed(kind, 403)).verdict, kind).to.equal('unknown');
    const strict = { ...provider, check: { path: '/me', rejected: [403] } };
    expect(verdictOf(strict, failed('upstream_forbidden', 403)).verdict).to.equal('rejected');
    expect(verdictOf(strict, failed('upstream_not_found', 404)).verdict).to.equal('unknown');
  });

  it('accepts successful responses', () => {
    expect(verdictOf(provider, { ok: true, data: {}, upstreamStatus: 200 }).verdict).to.equal('accepted');
  });
});
