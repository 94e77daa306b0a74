import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { accountInputs } from '../../../core/connectors/account-inputs.ts';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import { baseUrlOf } from '../../../core/connectors/base-url.ts';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { originsOf } from '../../../core/connectors/origins.ts';
import type { ProviderDefinition } from '../../../core/connectors/provider.ts';
import { SITE } from '../../../core/connectors/sites.ts';
import { fillText } from '../../../core/oauth/fill.ts';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';

describe('sites of connectors', () => {
  const index = readFileSync(new URL('../../../generated/catalogue.json', import.meta.url), 'utf8');
  const catalogue = createCatalogue(readCatalogueIndex(index));
  const partsOf = (connector: string, type: string) => {
    const provider = catalogue.provider(connector) as ProviderDefinition;
    const pattern = provider.authPatterns.find((candidate) => candidate.type === type) as AuthPattern;
    return { provider, pattern };
  };
  const baseOf = (connector: string, type: string, values: Record<string, string>) => {
    const { provider, pattern } = partsOf(connector, type);
    return baseUrlOf(provider, accountInputs(pattern, values, values));
  };
  const addressOf = (connector: string, type: string, key: 'authorize_uri' | 'token_uri', values: object) => {
    const { pattern } = partsOf(connector, type);
    return oauthProviderOf(pattern, accountInputs(pattern, { ...values })).address(pattern.oauth_config?.[key] ?? '');
  };

  const AC = `AC${'0a'.repeat(16)}`;
  const SK = `SK${'0b'.repeat(16)}`;
  const BASES: [connector: string, type: string, values: Record<string, string>, base: string][] = [
    ['pagerduty', 'API_KEY', {}, 'https://api.pagerduty.com'],
    ['pagerduty', 'API_KEY', { region: 'us' }, 'https://api.pagerduty.com'],
    ['pagerduty', 'OAUTH', { region: 'eu' }, 'https://api.eu.pagerduty.com'],
    ['quickbooks', 'OAUTH', { realm_id: '1' }, 'https://quickbooks.api.intuit.com/v3/company/1'],
    [
      'quickbooks',
      'OAUTH',
      { realm_id: '1', environment: 'sandbox' },
      'https://sandbox-quickbooks.api.intuit.com/v3/company/1',
    ],
    ['paypal', 'OAUTH_M2M', { environment: 'live' }, 'https://api-m.paypal.com'],
    ['paypal', 'OAUTH_M2M', { environment: 'sandbox' }, 'https://api-m.sandbox.paypal.com'],
    ['okta', 'API_KEY', { subdomain: 'acme' }, 'https://acme.okta.com/api/v1'],
    ['okta', 'API_KEY', { subdomain: 'acme.oktapreview.com' }, 'https://acme.oktapreview.com/api/v1'],
    ['okta', 'OAUTH', { subdomain: 'id.acme.example' }, 'https://id.acme.example/api/v1'],
    ['auth0', 'OAUTH_M2M', { tenant: 'acme', region: 'eu' }, 'https://acme.eu.auth0.com/api/v2'],
    ['auth0', 'OAUTH_M2M', { tenant: 'acme.auth0.com' }, 'https://acme.auth0.com/api/v2'],
    ['auth0', 'OAUTH_M2M', { tenant: 'login.acme.example' }, 'https://login.acme.example/api/v2'],
    ['snowflake', 'BEARER_TOKEN', { account: 'org-a1' }, 'https://org-a1.snowflakecomputing.com/api/v2'],
    [
      'snowflake',
      'BEARER_TOKEN',
      { account: 'xy1.eu-central-1.privatelink.snowflakecomputing.com' },
      'https://xy1.eu-central-1.privatelink.snowflakecomputing.com/api/v2',
    ],
    ['smartsheet', 'BEARER_TOKEN', { region: 'eu' }, 'https://api.smartsheet.eu/2.0'],
    ['smartsheet', 'OAUTH', { region: 'gov' }, 'https://api.smartsheetgov.com/2.0'],
    ['twilio', 'BASIC', { username: AC }, `https://api.twilio.com/2010-04-01/Accounts/${AC}`],
    ['twilio', 'BASIC', { username: SK, account_sid: AC }, `https://api.twilio.com/2010-04-01/Accounts/${AC}`],
    ['servicenow', 'BASIC', { instance: 'acme' }, 'https://acme.service-now.com/api/now'],
    ['servicenow', 'BASIC', { instance: 'help.acme.example' }, 'https://help.acme.example/api/now'],
    ['gitlab', 'BEARER_TOKEN', {}, 'https://gitlab.com/api/v4'],
    ['gitlab', 'BEARER_TOKEN', { host: 'git.acme.example' }, 'https://git.acme.example/api/v4'],
    ['github', 'BEARER_TOKEN', {}, 'https://api.github.com'],
    ['github', 'BEARER_TOKEN', { host: 'acme.ghe.com' }, 'https://api.acme.ghe.com'],
    ['github', 'OAUTH', { host: 'git.acme.example' }, 'https://git.acme.example/api/v3'],
  ];
  for (const [connector, type, values, base] of BASES) {
    it(`calls ${connector} at ${base}`, () => expect(baseOf(connector, type, values)).to.equal(base));
  }

  it('also moves the OAuth endpoints to the site of the API', () => {
    const sandbox = { my_domain: 'acme.my.salesforce.com', login_host: 'login' };
    expect(addressOf('salesforce', 'OAUTH', 'token_uri', sandbox)).to.equal(
      'https://acme.my.salesforce.com/services/oauth2/token',
    );
    expect(addressOf('docusign', 'OAUTH', 'authorize_uri', { environment: 'developer' })).to.equal(
      'https://account-d.docusign.com/oauth/auth',
    );
    expect(addressOf('smartsheet', 'OAUTH', 'authorize_uri', { region: 'eu' })).to.equal(
      'https://app.smartsheet.eu/b/authorize',
    );
    expect(addressOf('github', 'OAUTH', 'token_uri', { host: 'acme.ghe.com' })).to.equal(
      'https://acme.ghe.com/login/oauth/access_token',
    );
    const { provider, pattern } = partsOf('github', 'OAUTH');
    expect(originsOf(provider, accountInputs(pattern, { host: 'git.acme.example' }), 'OAUTH')).to.deep.equal([
      'https://git.acme.example',
    ]);
  });

  it('changes an address inside a text, such as an audience', () => {
    const { pattern } = partsOf('auth0', 'OAUTH_M2M');
    const audience = pattern.oauth_config?.extra_token_params?.['audience'] ?? '';
    const inputs = accountInputs(pattern, { tenant: 'acme.auth0.com' });
    expect(fillText(audience, inputs)).to.equal('https://acme.auth0.com/api/v2/');
  });

  it('accepts only hosts below the domain names of the vendor', () => {
    const { pattern } = partsOf('github', 'OAUTH');
    const siteOf = (host: string) => accountInputs(pattern, { host })[SITE];
    expect(siteOf('acme.ghe.com')?.isForeign).to.equal(false);
    for (const host of ['acme-ghe.com', 'evilghe.com', 'acme.ghe.com.evil.example', 'ghe.com']) {
      expect(siteOf(host)?.isForeign, host).to.equal(true);
    }
  });

  it('ignores a value that is not a host name', () => {
    const { provider, pattern } = partsOf('gitlab', 'BEARER_TOKEN');
    const values = [
      'localhost',
      '127.0.0.1',
      '[::1]',
      'a.example:444',
      'a.example/x',
      'u@a.example',
      'A.EXAMPLE',
      '..',
    ];
    for (const host of [
      ...values,
      'a..example',
      '-a.example',
      'a.example.',
      'a.example#',
      'a.example\n',
      'ü.example',
    ]) {
      expect(baseUrlOf(provider, accountInputs(pattern, { host })), host).to.equal('https://gitlab.com/api/v4');
    }
  });

  it('does not return sites in the definition of a connector', () => {
    const shown = catalogue.connectors().flatMap((connector) => connector.auth_patterns);
    expect(JSON.stringify(shown)).not.to.contain('"sites"');
  });
});
