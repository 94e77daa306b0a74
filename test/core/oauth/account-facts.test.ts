import { expect } from 'chai';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import type { AccountFacts } from '../../../core/oauth/account-facts.ts';
import { type FlowOptions, flowOf } from '../../support/oauth-flow.ts';
import { API, AS, type Behaviour, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';

/** Runs a flow, and reads the facts about its account. */
async function factsWith(behaviour: Behaviour, config: OAuthConfig, options?: FlowOptions): Promise<AccountFacts> {
  const flow = flowOf(await startScriptableAs(behaviour), config, options);
  const granted = await flow.run();
  if (!granted.ok) throw new Error(`${granted.kind}: ${granted.message}`);
  return flow.facts(granted);
}

function answering(more: object): Behaviour {
  return { token: { answer: ({ scopes: _scopes, ...tokens }) => ({ body: { ...tokens, ...more } }) } };
}

const me = (body: unknown): Behaviour => ({
  routes: {
    'GET /me': (request, server) => (server.bearerOf(request) ? { body } : { status: 401, body: {} }),
  },
});
const CALL = { uri: `${API}/me` };

describe('The identity of an account', () => {
  afterEach(closeAll);

  it('is read from an address and a field, as in patterns of the contract', async () => {
    const config = { user_info_uri: `${API}/me`, identity_field: 'bot.owner.email' };
    const facts = await factsWith(me({ id: 7, bot: { owner: { email: 'a@b.example' } } }), config);
    expect(facts).to.deep.include({ ok: true, subject: '7', identifierCandidates: ['a@b.example'] });
  });

  it('is read from sub before id, and from the field if there is neither', async () => {
    const config = { user_info_uri: `${API}/me`, identity_field: 'login' };
    expect(await factsWith(me({ sub: 's', id: 7, login: 'l' }), config)).to.include({ subject: 's' });
    expect(await factsWith(me({ login: 'l' }), config)).to.include({ subject: 'l' });
    expect(await factsWith(me({}), config)).to.include({ ok: false, kind: 'unidentified' });
  });

  it('is not requested if the connector declares no method', async () => {
    expect(await factsWith({}, {})).to.deep.include({ ok: true, subject: null, identifierCandidates: [] });
  });

  it('consists of two ids, so that two teams with one user id differ (Slack)', async () => {
    const identity = { call: CALL, subject: ['/identity/team_id', '/identity/user_id'] };
    expect(await factsWith(me({ team_id: 'T:1', user_id: 'U1' }), { identity })).to.include({ subject: 'T%3A1:U1' });
    expect(await factsWith(me({ user_id: 'U1' }), { identity })).to.include({ ok: false, kind: 'unidentified' });
  });

  it('is unknown if a 200 response reports a failure (Slack)', async () => {
    const errors = { success: { pointer: '/ok', equals: true }, code: '/error' };
    const identity = { call: CALL, errors, subject: ['/identity/user_id'] };
    const facts = await factsWith(me({ ok: false, error: 'invalid_token', user_id: 'U1' }), { identity });
    expect(facts).to.include({ ok: false, kind: 'refused' });
  });

  it('is unknown if the response is for an anonymous user (Zendesk)', async () => {
    const identity = { call: CALL, subject: ['/identity/user/id'] };
    const facts = await factsWith(me({ user: { id: null, name: 'Anonymous' } }), { identity });
    expect(facts).to.include({ ok: false, kind: 'unidentified' });
  });

  it('is requested in GraphQL (Linear, monday)', async () => {
    const query = '{viewer{id email}}';
    const behaviour: Behaviour = {
      routes: {
        'POST /graphql': (request, server) =>
          server.bearerOf(request) && JSON.parse(request.body).query === query
            ? { body: { data: { viewer: { id: 'v1', email: 'v@b.example' } } } }
            : { status: 400, body: { errors: [{}] } },
      },
    };
    const identity = {
      call: { method: 'POST', uri: `${API}/graphql`, json: { query } },
      subject: ['/identity/data/viewer/id'],
      identifiers: ['/identity/data/viewer/email'],
    } as const;
    const config = {
      identity: { ...identity, subject: [...identity.subject], identifiers: [...identity.identifiers] },
    };
    const facts = await factsWith(behaviour, config);
    expect(facts).to.deep.include({ subject: 'v1', identifierCandidates: ['v@b.example'] });
  });

  it('is requested by a POST with the body null, which the API requires (Dropbox)', async () => {
    const behaviour: Behaviour = {
      routes: {
        'POST /account': ({ body, headers }) =>
          body === 'null' && headers['content-type'] === 'application/json'
            ? { body: { account_id: 'd1' } }
            : { status: 400, body: 'could not decode input as JSON' },
      },
    };
    const call = { method: 'POST', uri: `${API}/account` } as const;
    const subject = ['/identity/account_id'];
    expect(await factsWith(behaviour, { identity: { call, subject } })).to.include({ ok: false, kind: 'unexpected' });
    const withNull = { call: { ...call, json: null }, subject };
    expect(await factsWith(behaviour, { identity: withNull })).to.include({ ok: true, subject: 'd1' });
  });

  it('comes from the token response (Sentry, Notion)', async () => {
    const identity = { subject: ['/token/user/id'], identifiers: ['/token/user/email'] };
    const facts = await factsWith(answering({ user: { id: '9', email: 'u@b.example' } }), { identity });
    expect(facts).to.deep.include({ subject: '9', identifierCandidates: ['u@b.example'] });
  });

  it('is read from the callback if only the callback contains it (QuickBooks)', async () => {
    const config: OAuthConfig = {
      account_values: [{ name: 'realm_id', from: '/callback/realmId', pattern: '\\d{1,20}' }],
      identity: { subject: ['/account/realm_id'] },
    };
    const behaviour = { authorize: { callback: { extras: { realmId: '4620816365' } } } };
    expect(await factsWith(behaviour, config)).to.deep.include({ ok: true, subject: '4620816365' });
  });

  describe('is requested with the token', () => {
    const cases: [
      title: string,
      header: string,
      value: RegExp,
      options: FlowOptions,
      headers?: Record<string, string>,
    ][] = [
      [
        'after another word (Zoho)',
        'authorization',
        /^Zoho-oauthtoken at-/,
        { pattern: { auth_scheme: 'Zoho-oauthtoken' } },
      ],
      ['bare (monday)', 'authorization', /^at-/, { pattern: { auth_scheme: '' } }],
      [
        'in its own header (Shopify)',
        'x-shopify-access-token',
        /^at-/,
        { pattern: { auth_scheme: '', auth_header_key_override: 'X-Shopify-Access-Token' } },
      ],
      [
        'after a word for this call alone (Mailchimp)',
        'authorization',
        /^OAuth at-/,
        {},
        { Authorization: 'OAuth {{token}}' },
      ],
    ];
    for (const [title, header, value, options, headers] of cases) {
      it(title, async () => {
        const behaviour: Behaviour = {
          routes: {
            'GET /me': (request) =>
              value.test(String(request.headers[header])) ? { body: { id: 1 } } : { status: 401, body: {} },
          },
        };
        const identity = { call: { ...CALL, headers }, subject: ['/identity/id'] };
        const plain = await factsWith(behaviour, { identity: { call: CALL, subject: ['/identity/id'] } });
        expect(plain).to.include({ ok: false, kind: 'refused' });
        expect(await factsWith(behaviour, { identity }, options)).to.include({ ok: true, subject: '1' });
      });
    }
  });

  it('is requested with the headers that the vendor requires (Notion)', async () => {
    const behaviour: Behaviour = {
      routes: {
        'GET /me': ({ headers }) =>
          headers['notion-version'] === '2026-03-11' ? { body: { id: 1 } } : { status: 400, body: {} },
      },
    };
    const withHeader = { ...CALL, headers: { 'Notion-Version': '2026-03-11' } };
    const subject = ['/identity/id'];
    expect(await factsWith(behaviour, { identity: { call: CALL, subject } })).to.include({ kind: 'unexpected' });
    expect(await factsWith(behaviour, { identity: { call: withHeader, subject } })).to.include({ subject: '1' });
  });

  it('does not include an address that the provider has not verified', async () => {
    const identity = { call: CALL, subject: ['/identity/sub'], identifiers: ['/identity/email', '/identity/name'] };
    const body = { sub: 's', email: 'victim@b.example', name: 'n' };
    const candidates = async (more: object) => {
      const facts = await factsWith(me({ ...body, ...more }), { identity });
      return facts.ok ? facts.identifierCandidates : facts.message;
    };
    expect(await candidates({ email_verified: false })).to.deep.equal(['n']);
    expect(await candidates({ email_verified: 'false' })).to.deep.equal(['n']);
    expect(await candidates({ email_verified: true })).to.deep.equal(['victim@b.example', 'n']);
    expect(await candidates({})).to.deep.equal(['victim@b.example', 'n']);
  });

  it('is unknown if the id_token is missing or cannot be verified', async () => {
    const identity = { subject: ['/id_token/sub'] };
    expect(await factsWith({}, { identity })).to.deep.include({
      kind: 'unidentified',
      message: 'The provider sent no id_token.',
    });
    const unverifiable = await factsWith(answering({ id_token: 'a.b.c' }), { identity });
    expect(unverifiable).to.include({ ok: false, kind: 'unidentified' });
  });

  it('is not requested if a value for the call is missing', async () => {
    const call = { ...CALL, auth: 'client' } as const;
    const client = { method: 'none', secret: null } as const;
    const config: OAuthConfig = { identity: { call, subject: ['/identity/id'] } };
    const server = await startScriptableAs({ token: { client: 'public' } });
    const flow = flowOf(server, config, { client });
    const granted = await flow.run();
    if (!granted.ok) throw new Error(granted.message);
    expect(await flow.facts(granted)).to.include({ ok: false, kind: 'setting' });
  });

  it('is unknown for now when the provider cannot be reached', async () => {
    const busy: Behaviour = { routes: { 'GET /me': () => ({ status: 503, headers: { 'retry-after': '7' } }) } };
    const identity = { call: CALL, subject: ['/identity/id'] };
    const facts = await factsWith(busy, { identity });
    expect(facts).to.include({ ok: false, kind: 'unavailable', reason: 'server_error', retryAfterMs: 7000 });
    const elsewhere = { call: { uri: 'https://elsewhere.example/me' }, subject: ['/identity/id'] };
    expect(await factsWith({}, { identity: elsewhere })).to.include({ ok: false, kind: 'unavailable' });
  });
});

describe('A value that the API of an account requires', () => {
  afterEach(closeAll);

  const realm = { name: 'realm_id', from: '/callback/realmId', pattern: '\\d{1,20}' };

  async function valuesWith(behaviour: Behaviour, config: OAuthConfig): Promise<unknown> {
    const flow = flowOf(await startScriptableAs(behaviour), config);
    const granted = await flow.run();
    if (!granted.ok) return granted.kind;
    const facts = await flow.facts(granted);
    return facts.ok ? { ...granted.values, ...facts.values } : facts.kind;
  }

  it('is read from declared parameters of the callback (QuickBooks)', async () => {
    const behaviour = {
      authorize: { callback: { extras: { realmId: '46', evil: 'x', instance_url: 'https://e.example' } } },
    };
    expect(await valuesWith(behaviour, { account_values: [realm] })).to.deep.equal({ realm_id: '46' });
    expect(await valuesWith(behaviour, {})).to.deep.equal({});
  });

  it('is reported missing if the callback lacks it, unless it is optional', async () => {
    expect(await valuesWith({}, { account_values: [realm] })).to.equal('callback_value');
    expect(await valuesWith({}, { account_values: [{ ...realm, optional: true }] })).to.deep.equal({});
  });

  it('is refused when it is invalid, before any code is sent', async () => {
    for (const realmId of ['../admin', '46/../..', '4 6', '4\r\n6', '9'.repeat(600), '{{token}}']) {
      const server = await startScriptableAs({ authorize: { callback: { extras: { realmId } } } });
      const outcome = await flowOf(server, { account_values: [realm] }).run();
      expect(outcome, realmId).to.include({ ok: false, kind: 'callback_value' });
      expect(server.tokenRequests, realmId).to.have.length(0);
    }
  });

  describe('is an address from the token response (Salesforce, Pipedrive)', () => {
    const origins = ['https://login.sales.example', 'https://*.my.sales.example'];
    const value = { name: 'instance_url', from: '/token/instance_url', origins };
    const cases: [url: string, taken: string | undefined][] = [
      ['https://acme.my.sales.example', 'https://acme.my.sales.example'],
      ['https://acme.my.sales.example/', 'https://acme.my.sales.example'],
      ['https://a--b.sandbox.my.sales.example', 'https://a--b.sandbox.my.sales.example'],
      ['https://login.sales.example', 'https://login.sales.example'],
      ['https://evil.example', undefined],
      ['https://my.sales.example', undefined],
      ['https://my.sales.example.evil.example', undefined],
      ['https://evil-my.sales.example', undefined],
      ['https://acme.my.sales.example@evil.example', undefined],
      ['https://acme.my.sales.example:8443', undefined],
      ['https://acme.my.sales.example/path', undefined],
      ['https://acme.my.sales.example?x', undefined],
      ['https://acme.my.sales.example#.evil.example', undefined],
      ['https://evil.example\\.my.sales.example', undefined],
      ['http://acme.my.sales.example', undefined],
      ['javascript:alert(1)//.my.sales.example', undefined],
      ['//acme.my.sales.example', undefined],
      ['169.254.169.254', undefined],
    ];
    for (const [url, taken] of cases) {
      it(`that ${taken ? 'may' : 'may not'} be ${url}`, async () => {
        const found = await valuesWith(answering({ instance_url: url }), { account_values: [value] });
        expect(found).to.deep.equal(taken === undefined ? 'unidentified' : { instance_url: taken });
      });
    }
  });

  it('is read by further requests, in the order of their dependencies (Atlassian)', async () => {
    const behaviour: Behaviour = {
      ...answering({ region: 'eu' }),
      routes: {
        'GET /eu/sites': (request, server) =>
          server.bearerOf(request) ? { body: [{ id: 'c-1' }, { id: 'c-2' }] } : { status: 401 },
        'GET /c-1/me': () => ({ body: { account_id: 'a-1' } }),
      },
    };
    const config: OAuthConfig = {
      account_values: [
        { name: 'region', from: '/token/region', pattern: '[a-z]{2}' },
        { name: 'cloud_id', from: '/lookup/0/id', pattern: '[a-z0-9-]{1,40}' },
      ],
      lookup: { uri: `${API}/{{region}}/sites` },
      identity: { call: { uri: `${API}/{{cloud_id}}/me` }, subject: ['/identity/account_id'] },
    };
    expect(await valuesWith(behaviour, config)).to.deep.equal({ region: 'eu', cloud_id: 'c-1' });
    expect(await factsWith(behaviour, config)).to.include({ subject: 'a-1' });
  });

  it('can select the data centre whose token endpoint redeems the code, from a fixed list (Zoho)', async () => {
    const DEFAULT = 'https://accounts.zoho.example';
    const EU = 'https://accounts.zoho-eu.example';
    const config: OAuthConfig = {
      authorize_uri: `${AS}/authorize`,
      token_uri: `${DEFAULT}/token`,
      token: { origin_from: 'accounts_server' },
      account_values: [
        { name: 'accounts_server', from: '/callback/accounts-server', origins: [DEFAULT, EU], optional: true },
      ],
    };
    const run = async (given: string | undefined, reachable: string) => {
      const extras = given === undefined ? undefined : { 'accounts-server': given };
      const server = await startScriptableAs({ authorize: { callback: { extras } } }, [reachable]);
      const flow = flowOf(server, config);
      return { outcome: await flow.run(), server };
    };
    expect((await run(EU, EU)).outcome).to.deep.include({ ok: true, values: { accounts_server: EU } });
    expect((await run(undefined, DEFAULT)).outcome).to.deep.include({ ok: true, values: {} });
    expect((await run(EU, DEFAULT)).outcome).to.include({ ok: false, kind: 'unavailable' });
    const stolen = await run('https://evil.example', 'https://evil.example');
    expect(stolen.outcome).to.include({ ok: false, kind: 'callback_value' });
    expect(stolen.server.requests).to.have.length(0);
  });

  it('can be the host of the API, which then receives the identity request', async () => {
    const behaviour: Behaviour = {
      ...answering({ api_domain: 'https://acme.pipe.example' }),
      routes: { 'GET /users/me': () => ({ body: { data: { company_id: 1, id: 2 } } }) },
    };
    const config: OAuthConfig = {
      account_values: [{ name: 'api_domain', from: '/token/api_domain', origins: ['https://*.pipe.example'] }],
      identity: {
        call: { uri: 'https://api.pipe.example/users/me', origin_from: 'api_domain' },
        subject: ['/identity/data/company_id', '/identity/data/id'],
      },
    };
    const server = await startScriptableAs(behaviour, [AS, 'https://acme.pipe.example']);
    const flow = flowOf(server, config);
    const granted = await flow.run();
    if (!granted.ok) throw new Error(granted.message);
    expect(await flow.facts(granted)).to.deep.include({
      subject: '1:2',
      values: { api_domain: 'https://acme.pipe.example' },
    });
  });
});
