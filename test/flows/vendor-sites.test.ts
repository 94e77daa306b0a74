import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const AC = `AC${'0a'.repeat(16)}`;
const SK = `SK${'0b'.repeat(16)}`;
const UUID = '0b5c8b1c-7a3e-4c65-9d0a-1f2e3d4c5b6a';
const TOKENS = { oauth_token: { access_token: 'an-access-token-of-a-user' } };
const keyOf = (details: Record<string, string>) => ({ static_auth: { details } });

/** An account at a site, and the address that a tool calls for it. `own` is an entry of `allowed_addresses`, if any. */
interface Case {
  connector: string;
  type: string;
  config?: Record<string, string>;
  details: object;
  tool: string;
  input?: object;
  calls: string;
  own?: string;
}

const CASES: Record<string, Case> = {
  'PagerDuty in Europe': {
    connector: 'pagerduty',
    type: 'API_KEY',
    config: { region: 'eu' },
    details: keyOf({ api_key: 'u+aBcDeFgHiJkLmNoPqR' }),
    tool: 'list_services',
    calls: 'https://api.eu.pagerduty.com/services',
  },
  'Salesforce at its own domain': {
    connector: 'salesforce',
    type: 'OAUTH',
    config: {
      my_domain: 'acme.my.salesforce.com',
      login_host: 'login',
      instance_url: 'https://acme.my.salesforce.com',
    },
    details: TOKENS,
    tool: 'query',
    input: { query: 'SELECT Id FROM Account' },
    calls: 'https://acme.my.salesforce.com/services/data/',
  },
  'a developer environment of DocuSign': {
    connector: 'docusign',
    type: 'OAUTH',
    config: { environment: 'developer', base_uri: 'https://demo.docusign.net', account_id: UUID },
    details: TOKENS,
    tool: 'list_templates',
    calls: 'https://demo.docusign.net/restapi/',
  },
  'a sandbox of QuickBooks': {
    connector: 'quickbooks',
    type: 'OAUTH',
    config: { environment: 'sandbox', realm_id: '4620816365' },
    details: TOKENS,
    tool: 'get_company',
    calls: 'https://sandbox-quickbooks.api.intuit.com/v3/company/4620816365/',
  },
  'a sandbox of PayPal': {
    connector: 'paypal',
    type: 'OAUTH_M2M',
    config: { environment: 'sandbox' },
    details: TOKENS,
    tool: 'list_products',
    calls: 'https://api-m.sandbox.paypal.com/v1/catalogs/products',
  },
  'a preview organization of Okta': {
    connector: 'okta',
    type: 'API_KEY',
    config: { subdomain: 'acme.oktapreview.com' },
    details: keyOf({ api_key: '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789' }),
    tool: 'list_groups',
    calls: 'https://acme.oktapreview.com/api/v1/groups',
  },
  'Okta at a domain of the customer': {
    connector: 'okta',
    type: 'API_KEY',
    config: { subdomain: 'id.acme.example' },
    details: keyOf({ api_key: '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789' }),
    tool: 'list_groups',
    calls: 'https://id.acme.example/api/v1/groups',
    own: 'https://id.acme.example',
  },
  'a tenant of Auth0 without a region': {
    connector: 'auth0',
    type: 'OAUTH_M2M',
    config: { tenant: 'acme.auth0.com' },
    details: TOKENS,
    tool: 'search_users',
    calls: 'https://acme.auth0.com/api/v2/users',
  },
  'Auth0 at a domain of the customer': {
    connector: 'auth0',
    type: 'OAUTH_M2M',
    config: { tenant: 'login.acme.example' },
    details: TOKENS,
    tool: 'search_users',
    calls: 'https://login.acme.example/api/v2/users',
    own: 'https://login.acme.example',
  },
  'Snowflake by a locator with a region': {
    connector: 'snowflake',
    type: 'BEARER_TOKEN',
    config: { account: 'xy12345.eu-central-1.snowflakecomputing.com' },
    details: keyOf({ token: 'a-programmatic-access-token' }),
    tool: 'list_databases',
    calls: 'https://xy12345.eu-central-1.snowflakecomputing.com/api/v2/databases',
  },
  'Snowflake by a private link': {
    connector: 'snowflake',
    type: 'BEARER_TOKEN',
    config: { account: 'xy12345.eu-central-1.privatelink.snowflakecomputing.com' },
    details: keyOf({ token: 'a-programmatic-access-token' }),
    tool: 'list_databases',
    calls: 'https://xy12345.eu-central-1.privatelink.snowflakecomputing.com/api/v2/databases',
  },
  'Smartsheet in Europe': {
    connector: 'smartsheet',
    type: 'BEARER_TOKEN',
    config: { region: 'eu' },
    details: keyOf({ token: 'aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789' }),
    tool: 'list_sheets',
    calls: 'https://api.smartsheet.eu/2.0/sheets',
  },
  'Smartsheet for governments': {
    connector: 'smartsheet',
    type: 'OAUTH',
    config: { region: 'gov' },
    details: TOKENS,
    tool: 'list_sheets',
    calls: 'https://api.smartsheetgov.com/2.0/sheets',
  },
  'Twilio by an API key': {
    connector: 'twilio',
    type: 'BASIC',
    config: { account_sid: AC },
    details: keyOf({ username: SK, password: 'c0ffee'.repeat(5) }),
    tool: 'list_messages',
    calls: `https://api.twilio.com/2010-04-01/Accounts/${AC}/Messages.json`,
  },
  'ServiceNow at a host of the customer': {
    connector: 'servicenow',
    type: 'BASIC',
    config: { instance: 'help.acme.example' },
    details: keyOf({ username: 'ada', password: 'a-password' }),
    tool: 'list_incidents',
    calls: 'https://help.acme.example/api/now/table/incident',
    own: 'https://help.acme.example',
  },
  'a self-managed GitLab': {
    connector: 'gitlab',
    type: 'BEARER_TOKEN',
    config: { host: 'git.acme.example' },
    details: keyOf({ token: 'glpat-aBcDeFgHiJkLmNoPqRsT' }),
    tool: 'list_projects',
    calls: 'https://git.acme.example/api/v4/projects',
    own: 'https://git.acme.example',
  },
  'GitHub Enterprise Server': {
    connector: 'github',
    type: 'BEARER_TOKEN',
    config: { host: 'git.acme.example' },
    details: keyOf({ token: 'ghp_aBcDeFgHiJkLmNoPqRsT' }),
    tool: 'get_authenticated_user',
    calls: 'https://git.acme.example/api/v3/user',
    own: 'https://git.acme.example',
  },
  'GitHub Enterprise Cloud at GHE.com': {
    connector: 'github',
    type: 'BEARER_TOKEN',
    config: { host: 'acme.ghe.com' },
    details: keyOf({ token: 'ghp_aBcDeFgHiJkLmNoPqRsT' }),
    tool: 'get_authenticated_user',
    calls: 'https://api.acme.ghe.com/user',
  },
};

describe('accounts at other sites of a vendor', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  for (const [name, { connector, type, config, details, tool, input, calls, own }] of Object.entries(CASES)) {
    it(`connects ${name}`, async () => {
      const { key_id } = await createConnection(server, {
        connector,
        type,
        ...(own !== undefined && { allowed_addresses: [own] }),
        ...(type.startsWith('OAUTH') && {
          client_id: 'client-of-acme-0000000000',
          client_secret: 'secret-of-acme-0000000000',
        }),
      });
      const connectedAccount = { api_config: config ?? {}, authorization_details: details };
      const { id } = await createAccount(server, { connector: key_id, connectedAccount });
      const answer = await execute(server, id, `${connector}_${tool}`, { ...input }, { body: { dry_run: true } });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.dry_run_request.url.slice(0, calls.length), answer.text).to.equal(calls);
    });
  }
});
