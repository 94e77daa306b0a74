import { expect } from 'chai';
import fc from 'fast-check';
import { accountInputs } from '../../../core/connectors/account-inputs.ts';
import { AddressError, addressPlaces } from '../../../core/connectors/address-template.ts';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import { baseUrlOf, checkAccountInputs } from '../../../core/connectors/base-url.ts';
import { originsOf } from '../../../core/connectors/origins.ts';
import { customProvider, type ProviderDefinition } from '../../../core/connectors/provider.ts';

function provider(parts: Partial<ProviderDefinition>): ProviderDefinition {
  return {
    identifier: 'acme',
    displayName: 'Acme',
    isCustom: true,
    api: {},
    authPatterns: [],
    proxyEnabled: true,
    ...parts,
  };
}

function failureOf(run: () => unknown): { code?: string; fields: string[] } {
  try {
    run();
  } catch (error) {
    const { code, errors = [] } = error as { code?: string; errors?: { field: string }[] };
    return { code, fields: errors.map(({ field }) => field) };
  }
  return { fields: [] };
}

/** Values that try to change more of the address than one host label. */
const HOST_ATTACKS = [
  ...[
    'evil.example/',
    'evil.example',
    'evil.example#',
    'evil.example?',
    'a.evil',
    'a@evil',
    'a:80',
    'a/b',
    'a\\b',
    '..',
    '.',
    '-a',
    'a-',
    'A',
  ],
  ...[
    'a b',
    'a\r\n',
    '\u0000',
    '%2e',
    'a%00',
    'ü',
    'a\u3002evil',
    'ａ',
    'K',
    '',
    'x'.repeat(64),
    '[::1]',
    '169.254.169.254',
    '*',
    'a_b',
    '{{b}}',
  ],
];

describe('The base address of a provider', () => {
  it('is proxy_url if the proxy is enabled, else the API base URL, else undefined', () => {
    const api = { base_url: 'https://api.acme.example/v1/' };
    const proxyUrl = 'https://proxy.acme.example/';
    expect(baseUrlOf(provider({ api, proxyUrl }), {})).to.equal('https://proxy.acme.example');
    expect(baseUrlOf(provider({ api, proxyUrl, proxyEnabled: false }), {})).to.equal('https://api.acme.example/v1');
    expect(failureOf(() => baseUrlOf(provider({ proxyUrl, proxyEnabled: false }), {})).code).to.equal(
      'PROVIDER_HAS_NO_BASE_URL',
    );
    expect(failureOf(() => baseUrlOf(provider({}), {})).code).to.equal('PROVIDER_HAS_NO_BASE_URL');
  });

  it('takes account values as one host label or one path segment', () => {
    const proxyUrl = 'https://{{domain}}.acme.example:8443/{{region}}/v2';
    expect(baseUrlOf(provider({ proxyUrl }), { domain: 'my-shop1', region: 'EU_1.a' })).to.equal(
      'https://my-shop1.acme.example:8443/EU_1.a/v2',
    );
    expect(failureOf(() => baseUrlOf(provider({ proxyUrl }), { domain: 'a' }))).to.deep.equal({
      code: 'INVALID_API_CONFIG',
      fields: ['connected_account.api_config.region'],
    });
  });

  it('a value can never select another host, port, user or path (E1)', () => {
    const target = provider({ proxyUrl: 'https://{{domain}}.acme.example/{{region}}' });
    for (const domain of HOST_ATTACKS) {
      expect(failureOf(() => baseUrlOf(target, { domain, region: 'x' })).fields, JSON.stringify(domain)).to.deep.equal([
        'connected_account.api_config.domain',
      ]);
      if (domain !== '') expect(checkAccountInputs(target, { domain }), domain).to.have.length(1);
    }
    for (const region of ['..', '.', 'a/b', 'a\\b', '%2e%2e', 'a?b', 'a#b', '', 'a b', 'ü', 'x'.repeat(129)]) {
      expect(failureOf(() => baseUrlOf(target, { domain: 'a', region })).fields, region).to.deep.equal([
        'connected_account.api_config.region',
      ]);
    }
    const text = fc.oneof(
      fc.constantFrom(...HOST_ATTACKS),
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[a-z0-9-]{1,8}$/),
    );
    fc.assert(
      fc.property(text, text, (domain, region) => {
        if (failureOf(() => baseUrlOf(target, { domain, region })).code) return;
        const url = new URL(baseUrlOf(target, { domain, region }));
        expect(url.hostname).to.match(/^[a-z0-9-]+\.acme\.example$/);
        expect(url.pathname.split('/')).to.have.length(2);
        expect(url.port + url.username + url.search + url.hash).to.equal('');
      }),
      { numRuns: 1000 },
    );
  });

  it('can be an address of the account itself, used as a prefix', () => {
    const generic = provider({ api: { base_url_input: 'base_url' }, proxyEnabled: false });
    expect(baseUrlOf(generic, { base_url: 'https://API.example.com/v1/' })).to.equal('https://api.example.com/v1');
    expect(baseUrlOf(generic, { base_url: 'http://127.0.0.1:8080' })).to.equal('http://127.0.0.1:8080');
    const refused = [
      '',
      'ftp://a.example',
      'https://u:p@a.example',
      'https://a.example/?x',
      'https://a.example/#x',
      'https://a.example/a/../b',
      'https://a.example/%2e%2e/',
      'https://a.example/b/..;/c',
      'https://a.example/b/%252e%252e%3b/c',
      'https://a.example\\b',
      'javascript:alert(1)',
      '/x',
      'https://',
    ];
    for (const base_url of refused) {
      expect(failureOf(() => baseUrlOf(generic, { base_url })).fields, base_url).to.deep.equal([
        'connected_account.api_config.base_url',
      ]);
    }
    expect(checkAccountInputs(generic, {})).to.deep.equal([]);
    expect(checkAccountInputs(generic, { base_url: 'nothing' })).to.have.length(1);
  });

  it('accepts only strings of api_config and path fields as account values, never a secret', () => {
    const pattern: AuthPattern = {
      type: 'BASIC',
      fields: [
        { field_name: 'domain', label: 'Host', input_type: 'text', is_path_param: true },
        { field_name: 'username', label: 'Key', input_type: 'password' },
      ],
    };
    const inputs = accountInputs(
      pattern,
      { domain: 'mine', port: 5, deep: { a: 1 } },
      { domain: 'theirs', username: 'secret' },
    );
    expect({ ...inputs }).to.deep.equal({ domain: 'theirs', port: '5' });
  });
});

describe('An address template', () => {
  it('lists its placeholders in order', () => {
    expect(addressPlaces('https://{{a}}.b.{{c}}.acme.example/x/{{d}}')).to.deep.equal([
      { field: 'a', position: 'host' },
      { field: 'c', position: 'host' },
      { field: 'd', position: 'path' },
    ]);
    expect(addressPlaces('https://[2001:db8::1]:8443/x')).to.deep.equal([]);
  });

  it('refuses a placeholder that could select more than a label or a path segment', () => {
    const refused = [
      ...[
        'http://acme.example',
        'https://',
        'https://{{a}}',
        'https://{{a}}.example',
        'https://acme.{{a}}',
        'https://x{{a}}.acme.example',
      ],
      ...[
        'https://acme.example:{{a}}/',
        'https://{{a}}@acme.example/',
        'https://u:p@acme.example',
        'https://acme.example/x{{a}}',
        'https://acme.example/{{a}}y',
      ],
      ...[
        'https://acme.example/?x={{a}}',
        'https://acme.example/#{{a}}',
        'https://acme.example/{{A}}',
        'https://acme.example/{{a',
        'https://acme.example/{a}',
        '{{a}}',
        'https://acme.example/?x=1',
      ],
      ...['https://{{a}}.{{b}}.example', 'https://{{a}}.acme_x.example'],
    ];
    for (const source of refused) expect(() => addressPlaces(source), source).to.throw(AddressError);
    expect(addressPlaces('https://acme.example/?x=1', { query: true })).to.deep.equal([]);
  });
});

describe('The origins of a credential (P2)', () => {
  const oauth: AuthPattern = {
    type: 'OAUTH',
    account_fields: [{ field_name: 'domain', label: 'd', input_type: 'text', is_path_param: true }],
    oauth_config: {
      authorize_uri: 'https://login.acme.example/authorize',
      token_uri: 'https://auth.acme.example/token',
      revocation_uri: 'https://{{domain}}.acme.example/revoke',
      user_info_uri: 'https://api.acme.example/me',
    },
  };

  it('are those of the base, token, revocation and identity endpoints, sorted and without duplicates', () => {
    const built = provider({
      api: { base_url: 'https://api.acme.example/v1', extra_origins: ['https://upload.acme.example'] },
      authPatterns: [oauth],
      proxyEnabled: false,
    });
    expect(originsOf(built, { domain: 'shop' })).to.deep.equal([
      'https://api.acme.example',
      'https://auth.acme.example',
      'https://shop.acme.example',
      'https://upload.acme.example',
    ]);
  });

  it('do not include pages that the browser visits, or addresses whose placeholders have no value yet', () => {
    const origins = originsOf(provider({ authPatterns: [oauth], proxyUrl: 'https://{{domain}}.acme.example' }), {});
    expect(origins).to.deep.equal(['https://api.acme.example', 'https://auth.acme.example']);
  });

  it("change when the host of a custom provider changes, and follow the account's own pattern", () => {
    const facts = {
      identifier: 'p',
      displayName: 'P',
      authPatterns: [oauth, { type: 'API_KEY' as const }],
      proxyEnabled: true,
    };
    const before = originsOf(customProvider({ ...facts, proxyUrl: 'https://a.example/' }), {}, 'API_KEY');
    const after = originsOf(customProvider({ ...facts, proxyUrl: 'https://b.example/' }), {}, 'API_KEY');
    expect([before, after]).to.deep.equal([['https://a.example'], ['https://b.example']]);
  });
});
