import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { TestBrowser } from '../support/browser.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { accountOf, makeLink, requestLink, startLinkServer, submitLink } from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { json, type ReceivedRequest, startUpstream, type Upstream } from '../support/upstream.ts';

const EHR = 'https://ehr.example';
const EVIL = 'https://evil.example';
const BASE = `${EHR}/fhir/r4`;
const EVIL_BASE = `${EVIL}/fhir`;
const CLIENT = {
  client_id: 'app',
  client_secret: String(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ),
};
const ISSUER = `${EHR}/auth`;
const HONEST = { authorization_endpoint: `${EHR}/auth/authorize`, token_endpoint: `${EHR}/auth/token` };
const ABILITIES = { code_challenge_methods_supported: ['S256'], capabilities: ['launch-standalone'] };

/** A FHIR base that a user types must not get tokens that another record system has issued. */
describe('H3: a FHIR base whose server returns endpoints of another server', () => {
  let ehr: Upstream;
  let evil: Upstream;
  let server: TestServer;
  let clock: TestClock;
  /** The SMART configuration of the malicious base. */
  let lies: Record<string, unknown>;
  /** The metadata of the honest base's issuer. */
  let metadata: Record<string, unknown>;

  const wellKnown = (request: ReceivedRequest, smart: object) =>
    request.target.endsWith('/.well-known/smart-configuration') ? smart : metadata;

  before(async () => {
    const one = 'https://one.ehr.example/fhir';
    const first = { authorization_endpoint: `${one}/a`, token_endpoint: `${one}/t` };
    ehr = await startUpstream((request, res) => {
      const isFirst = request.target.startsWith('/fhir/.well-known');
      json(res, 200, wellKnown(request, { ...(isFirst ? first : { issuer: ISSUER, ...HONEST }), ...ABILITIES }));
    });
    evil = await startUpstream((request, res) => json(res, 200, wellKnown(request, lies)));
    const overrides = [EHR, 'https://one.ehr.example'].map(ehr.endpointOverride);
    overrides.push(...[EVIL, 'https://two.ehr.example'].map(evil.endpointOverride));
    clock = testClock(Date.now());
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') },
      overrides: { now: clock.now },
    });
  });
  beforeEach(() => {
    // Metadata of an issuer is cached for an hour.
    clock.advance(2 * 3_600_000);
    metadata = { issuer: ISSUER, ...HONEST };
    lies = {};
    evil.requests.length = 0;
    ehr.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await Promise.all([ehr.stop(), evil.stop()]);
  });

  const connect = (more: object = {}) =>
    createConnection(server, { connector: 'smart_fhir', type: 'SMART_FHIR', ...CLIENT, ...more });

  /** Returns the address to which a link with this base redirects a browser. */
  async function sentTo(fhir_base_url: string, more: object = {}): Promise<string | undefined> {
    const { key_id: connector } = await connect(more);
    const page = await submitLink(new TestBrowser(), await makeLink(server, { connector }), { fhir_base_url });
    if (page.location === undefined) expect(page.status).to.equal(502);
    return page.location && new URL(page.location).origin + new URL(page.location).pathname;
  }

  it('does not affect an honest base (negative control)', async () => {
    expect(await sentTo(BASE)).to.equal(HONEST.authorization_endpoint);
  });

  it('leads to a hostile server with its own endpoints only under its own name, which the page shows', async () => {
    lies = { authorization_endpoint: `${EVIL_BASE}/authorize`, token_endpoint: `${EVIL_BASE}/token`, ...ABILITIES };
    expect(await sentTo(EVIL_BASE)).to.equal(`${EVIL_BASE}/authorize`);
  });

  it('H3: requires an issuer, or a list, for endpoints of the same host that are not below the base', async () => {
    const tenant = `${EVIL}/tenants/ada`;
    lies = { authorization_endpoint: `${tenant}/authorize`, token_endpoint: `${tenant}/token`, ...ABILITIES };
    expect(await sentTo(EVIL_BASE)).to.equal(undefined);
    lies['authorization_endpoint'] = `${EVIL_BASE}/authorize`;
    expect(await sentTo(EVIL_BASE), 'the token endpoint of another').to.equal(undefined);
    lies['authorization_endpoint'] = `${EVIL_BASE}/..;/tenants/ada/authorize`;
    lies['token_endpoint'] = `${EVIL_BASE}/..;/tenants/ada/token`;
    expect(await sentTo(EVIL_BASE), 'a path with a dot segment').to.equal(undefined);
    lies = { authorization_endpoint: `${tenant}/authorize`, token_endpoint: `${tenant}/token`, ...ABILITIES };
    const listed = { allowed_addresses: [EVIL_BASE, tenant] };
    expect(await sentTo(EVIL_BASE, listed)).to.equal(`${tenant}/authorize`);
  });

  const mixes: [what: string, configuration: object][] = [
    [
      'its own page with the issuer and the token endpoint of another',
      { issuer: ISSUER, ...HONEST, authorization_endpoint: `${EVIL}/authorize` },
    ],
    ['its own page and no issuer', { ...HONEST, authorization_endpoint: `${EVIL}/authorize` }],
    [
      'its own endpoints with the issuer of another',
      { issuer: ISSUER, authorization_endpoint: `${EVIL}/authorize`, token_endpoint: `${EVIL}/token` },
    ],
    ['its own token endpoint', { issuer: ISSUER, ...HONEST, token_endpoint: `${EVIL}/token` }],
    ['its own token endpoint and no issuer', { ...HONEST, token_endpoint: `${EVIL}/token` }],
    ['all endpoints of another and no issuer', HONEST],
    ['its own revocation endpoint', { issuer: ISSUER, ...HONEST, revocation_endpoint: `${EVIL}/revoke` }],
    [
      'its own endpoint for pushed requests',
      { issuer: ISSUER, ...HONEST, pushed_authorization_request_endpoint: `${EVIL}/par` },
    ],
    [
      'another page of the same host',
      { issuer: ISSUER, ...HONEST, authorization_endpoint: `${EHR}/tenants/evil/authorize` },
    ],
    [
      'another token endpoint of the same host',
      { issuer: ISSUER, ...HONEST, token_endpoint: `${EHR}/tenants/evil/token` },
    ],
    ['an issuer that is not itself', { issuer: `${EHR}/other`, ...HONEST }],
    [
      'an issuer that publishes nothing',
      { issuer: `${EVIL}/nothing`, authorization_endpoint: `${EVIL}/a`, token_endpoint: `${EVIL}/t` },
    ],
  ];
  for (const [what, configuration] of mixes) {
    it(`is refused when it names ${what}`, async () => {
      lies = { ...configuration, ...ABILITIES };
      expect(await sentTo(EVIL_BASE)).to.equal(undefined);
      const targets = evil.requests.map(({ target }) => target).filter((target) => !target.includes('/.well-known/'));
      expect(targets).to.deep.equal([]);
    });
  }

  it('is refused when the metadata of its issuer move an endpoint after the user has left', async () => {
    metadata = { issuer: ISSUER, ...HONEST, token_endpoint: `${EHR}/other/token` };
    expect(await sentTo(BASE)).to.equal(undefined);
  });

  describe('with a list of allowed bases in the connection', () => {
    const allowed = { allowed_addresses: [BASE] };

    it('is used at a listed base, and below it', async () => {
      expect(await sentTo(BASE, allowed)).to.equal(HONEST.authorization_endpoint);
      expect(await sentTo(`${BASE}/department`, allowed)).to.equal(HONEST.authorization_endpoint);
    });

    it('is refused in the form of a link, and nothing is requested from it', async () => {
      const { key_id: connector } = await connect(allowed);
      for (const fhir_base_url of [EVIL_BASE, `${EHR}/fhir`, `${EHR}/fhir/r4b`, `${BASE}.evil.example`]) {
        const page = await submitLink(new TestBrowser(), await makeLink(server, { connector }), { fhir_base_url });
        expect(page.status, fhir_base_url).to.equal(400);
        expect(page.text).to.include('is not an allowed address');
      }
      expect(evil.requests).to.deep.equal([]);
    });

    it('is refused when an account is written, with the name of the field', async () => {
      const { key_id: connector } = await connect(allowed);
      const body = (fhir_base_url: string) => ({
        connector,
        user_id: 'ada',
        identifier: 'ada',
        connected_account: { api_config: { fhir_base_url } },
      });
      const refused = await server.call('POST', '/api/v1/connected_accounts', { body: body(EVIL_BASE) });
      expect(refused.body).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
      expect(refused.body.errors[0].field).to.equal('connected_account.api_config.fhir_base_url');
      const made = await server.call('POST', '/api/v1/connected_accounts', { body: body(BASE) });
      expect(made.status, made.text).to.equal(201);
      const { id } = made.body.connected_account;
      const change = { id, connected_account: { api_config: { fhir_base_url: EVIL_BASE } } };
      const moved = await server.call('PUT', '/api/v1/connected_accounts', { body: change });
      expect(moved.body).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
    });

    it('is used only with addresses on the list', async () => {
      for (const entry of [
        'https://*.com',
        'https://ehr.example/a/../b',
        'https://u@ehr.example',
        'https://e.example/?x',
        'https://*.*.example',
        'https://e.example/{{x}}',
      ]) {
        const body = { connector: 'smart_fhir', key_id: 'refused', allowed_addresses: [BASE, entry] };
        const refused = await server.call('POST', '/api/v1/connections', { body });
        expect(refused.body, entry).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(refused.body.errors[0].field).to.equal('allowed_addresses[1]');
      }
    });

    it('is allowed for all hosts below a listed name', async () => {
      const wide = { allowed_addresses: ['https://*.ehr.example'] };
      expect(
        await sentTo(EVIL_BASE, { allowed_addresses: ['https://*.evil.example'] }).catch(() => undefined),
      ).to.equal(undefined);
      const { key_id: connector } = await connect(wide);
      const page = await submitLink(new TestBrowser(), await makeLink(server, { connector }), { fhir_base_url: BASE });
      expect(page.status).to.equal(400);
    });
  });

  it('is not called with a shared secret at a second base, unless it is listed', async () => {
    const field = { field_name: 'site', label: 'Site', input_type: 'text', required: true, is_path_param: true };
    const { identifier } = await createProvider(server, {
      auth_patterns: [{ type: 'SMART_FHIR', account_fields: [field] }],
      proxy_enabled: true,
      proxy_url: 'https://{{site}}.ehr.example/fhir',
    });
    const client = { client_id: 'app', client_secret: 'shared-secret' };
    const { key_id: connector, id } = await createConnection(server, { connector: identifier, ...client });
    const go = async (site: string) => submitLink(new TestBrowser(), await makeLink(server, { connector }), { site });
    lies = {
      authorization_endpoint: 'https://two.ehr.example/fhir/a',
      token_endpoint: 'https://two.ehr.example/fhir/t',
      ...ABILITIES,
    };
    expect((await go('one')).location).to.match(/^https:\/\/one\.ehr\.example\/fhir\/a\?/);
    expect((await go('two')).status).to.equal(502);
    const allowed_addresses = ['https://one.ehr.example', 'https://two.ehr.example/fhir'];
    const body = { allowed_addresses, client_secret: 'shared-secret' };
    await server.call('PUT', `/api/v1/connections/${id}`, { body });
    expect((await go('two')).location).to.match(/^https:\/\/two\.ehr\.example\/fhir\/a\?/);
  });

  it('is named on the page of its link', async () => {
    const { key_id: connector } = await connect();
    const user = { connector, user_id: 'eve', identifier: 'eve' };
    const body = { ...user, connected_account: { api_config: { fhir_base_url: EVIL_BASE } } };
    expect((await server.call('POST', '/api/v1/connected_accounts', { body })).status).to.equal(201);
    const page = await new TestBrowser().open(await makeLink(server, user));
    expect(page.text.replaceAll('<wbr>', '')).to.match(
      new RegExp(`<dt>[^<]+</dt>\\s*<dd><bdi>${EVIL_BASE}</bdi></dd>`),
    );
    expect(await accountOf(server, 'eve')).to.include({ status: 'PENDING_AUTH' });
  });

  describe('in a production environment', () => {
    it('must be listed: a connection without a list stays a draft', async () => {
      const production = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
      const make = async (more: object) => {
        const body = { connector: 'smart_fhir', ...CLIENT, ...more };
        return (await production.call('POST', '/api/v1/connections', { body })).body.connection;
      };
      for (const type of ['SMART_FHIR', 'OAUTH_M2M']) {
        const draft = await make({ key_id: `draft-${type}`, type });
        expect(draft).to.deep.include({ status: 'DRAFT', missing_settings: ['allowed_addresses'] });
        const body = { allowed_addresses: [BASE] };
        const { connection } = (await production.call('PUT', `/api/v1/connections/${draft.id}`, { body })).body;
        expect(connection.missing_settings).to.deep.equal([]);
        expect(connection.status).not.to.equal('DRAFT');
        const cleared = await production.call('PUT', `/api/v1/connections/${draft.id}`, {
          body: { allowed_addresses: null },
        });
        expect(cleared.body.connection).to.deep.include({ status: 'DRAFT', missing_settings: ['allowed_addresses'] });
      }
      const link = { connector: 'draft-SMART_FHIR', user_id: 'ada', identifier: 'ada' };
      const refused = await requestLink(production as unknown as TestServer, link);
      expect(refused.body).to.include({ code: 'CONNECTION_NOT_READY' });
    });
  });
});
