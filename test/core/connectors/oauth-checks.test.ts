import { expect } from 'chai';
import type { AuthPattern, OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { checkAccountInputs } from '../../../core/connectors/base-url.ts';
import { checkAuthPatterns } from '../../../core/connectors/check-patterns.ts';
import { contractPattern } from '../../../core/connectors/contract-pattern.ts';
import { originsOf } from '../../../core/connectors/origins.ts';
import type { ProviderDefinition } from '../../../core/connectors/provider.ts';

const BASE: OAuthConfig = {
  authorize_uri: 'https://auth.acme.example/authorize',
  token_uri: 'https://auth.acme.example/token',
};
const HOSTS = ['https://api.acme.example', 'https://*.acme.example'];
const domain = { name: 'api_domain', from: '/token/api_domain', origins: HOSTS };

const patternOf = (config: OAuthConfig): AuthPattern => ({ type: 'OAUTH', oauth_config: { ...BASE, ...config } });

/** Returns the places below oauth_config at which checks find problems. */
function faults(config: OAuthConfig, more: Partial<AuthPattern> = {}): string[] {
  const errors = checkAuthPatterns([{ ...patternOf(config), ...more }]);
  return errors.map(({ field }) => field.replace('auth_patterns[0].oauth_config.', ''));
}

describe('Deviations of a connector from the standard', () => {
  it('that have an effect are accepted', () => {
    const config: OAuthConfig = {
      token: { origin_from: 'api_domain', headers: { 'X-Version': '{{api_domain}}' } },
      account_values: [domain, { name: 'site', from: '/lookup/0/id', pattern: '[a-z0-9-]{1,40}' }],
      lookup: { uri: 'https://api.acme.example/sites' },
      identity: {
        call: { uri: 'https://api.acme.example/{{site}}/me', headers: { Authorization: 'OAuth {{token}}' } },
        subject: ['/identity/id', '/account/site'],
        identifiers: ['/token/email'],
      },
      revocation: {
        call: {
          uri: 'https://api.acme.example/tokens/{{token}}',
          method: 'DELETE',
          json: { c: ['{{client_secret}}'] },
        },
      },
    };
    expect(faults(config)).to.deep.equal([]);
  });

  describe('that have no effect are reported:', () => {
    const value = { name: 'site', from: '/lookup/0/id', pattern: '[a-z]{1,9}' };
    const call = { uri: 'https://api.acme.example/me' };
    const cases: [title: string, config: OAuthConfig, where: string][] = [
      ['a place that nothing fills in an address', { lookup: { uri: 'https://{{x}}.acme.example/' } }, 'lookup.uri'],
      ['a place that nothing fills in a body', { lookup: { ...call, json: { a: [{ b: '{{x}}' }] } } }, 'lookup'],
      ['a place that nothing fills in a parameter', { extra_token_params: { a: '{{x}}' } }, 'extra_token_params'],
      ['a credential in a parameter', { extra_authorize_params: { a: '{{token}}' } }, 'extra_authorize_params'],
      ['a credential in a host', { lookup: { uri: 'https://{{token}}.acme.example/' } }, 'lookup.uri'],
      ['a credential in a part of a segment', { lookup: { uri: 'https://a.acme.example/x{{token}}' } }, 'lookup.uri'],
      [
        'a value of the name of a credential',
        { account_values: [{ ...value, name: 'token' }] },
        'account_values[0].name',
      ],
      ['two values of one name', { account_values: [value, value] }, 'account_values[1].name'],
      [
        'a value that is a credential',
        { account_values: [{ name: 'a', from: '/token/refresh_token', pattern: '.+' }] },
        'account_values[0].from',
      ],
      ['a value without a rule', { account_values: [{ name: 'a', from: '/token/a' }] }, 'account_values[0]'],
      ['a value out of nowhere', { account_values: [{ ...value, from: '/tokens/a' }] }, 'account_values[0].from'],
      [
        'a pattern that is not linear',
        { account_values: [{ ...value, pattern: '(a)\\1' }] },
        'account_values[0].pattern',
      ],
      ['a subject out of nowhere', { identity: { subject: ['/me/id'] } }, 'identity.subject[0]'],
      [
        'an identifier out of nowhere',
        { identity: { subject: ['/token/id'], identifiers: ['/x'] } },
        'identity.identifiers[0]',
      ],
      ['an origin from no value', { lookup: { ...call, origin_from: 'api_domain' } }, 'lookup.uri'],
      [
        'an origin from a value without origins',
        { account_values: [value], token: { origin_from: 'site' } },
        'token_uri',
      ],
      [
        'a header that frames',
        { lookup: { ...call, headers: { 'Content-Length': '1' } } },
        'lookup.headers.Content-Length',
      ],
      ['a header of another identity', { token: { headers: { Authorization: 'x' } } }, 'token.headers.Authorization'],
      ['an address without https', { refresh: { uri: 'http://auth.acme.example/refresh' } }, 'refresh.uri'],
    ];
    for (const [title, config, where] of cases) {
      it(title, () => expect(faults(config)).to.include(where));
    }
  });

  it("are not part of the API's responses", () => {
    const config: OAuthConfig = {
      ...BASE,
      pkce: 'none',
      resource: 'r',
      authorization: {},
      token: {},
      exchange: { uri: 'x' },
      refresh: {},
      revocation: {},
      lookup: { uri: 'x' },
      identity: { subject: [] },
      account_values: [],
    };
    const pattern: AuthPattern = { type: 'OAUTH', display_name: 'Acme', auth_scheme: 'Bot', oauth_config: config };
    expect(contractPattern(pattern)).to.deep.equal({
      type: 'OAUTH',
      display_name: 'Acme',
      oauth_config: { ...BASE, pkce: 'none' },
    });
    expect(contractPattern({ type: 'NO_AUTH' })).to.deep.equal({ type: 'NO_AUTH' });
  });
});

describe('The origins of a connector with deviations (P2)', () => {
  const provider = (config: OAuthConfig): ProviderDefinition => ({
    identifier: 'acme',
    displayName: 'Acme',
    isCustom: false,
    api: { base_url_input: 'api_domain' },
    authPatterns: [patternOf(config)],
    proxyEnabled: false,
  });

  it('are those of every call that carries a credential', () => {
    const config: OAuthConfig = {
      authorization: { pushed_uri: 'https://push.acme.example/par' },
      exchange: { uri: 'https://exchange.acme.example/x' },
      refresh: { uri: 'https://refresh.acme.example/r' },
      revocation: { call: { uri: 'https://revoke.acme.example/{{token}}' } },
      lookup: { uri: 'https://lookup.acme.example/sites' },
      identity: { call: { uri: 'https://me.acme.example/' }, subject: ['/identity/id'] },
    };
    expect(originsOf(provider(config), {})).to.deep.equal(
      ['auth', 'exchange', 'lookup', 'me', 'push', 'refresh', 'revoke'].map((host) => `https://${host}.acme.example`),
    );
  });

  it('follow the account if accounts have different ones, within the rule of the value', () => {
    const config: OAuthConfig = { token: { origin_from: 'api_domain' }, account_values: [domain] };
    const origins = (api_domain: string) => originsOf(provider(config), { api_domain });
    expect(origins('https://eu.acme.example')).to.deep.equal(['https://eu.acme.example']);
    expect(originsOf(provider(config), {})).to.deep.equal(['https://auth.acme.example']);
  });

  it('cannot be set by a caller to values that the flow could not produce', () => {
    const acme = provider({ account_values: [domain] });
    expect(checkAccountInputs(acme, { api_domain: 'https://eu.acme.example' })).to.deep.equal([]);
    for (const api_domain of ['https://evil.example', 'https://acme.example.evil.example', 'http://eu.acme.example']) {
      const [error] = checkAccountInputs(acme, { api_domain });
      expect(error?.field, api_domain).to.equal('connected_account.api_config.api_domain');
    }
  });
});
