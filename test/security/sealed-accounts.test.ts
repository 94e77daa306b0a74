import { expect } from 'chai';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { TestBrowser } from '../support/browser.ts';
import { dumpDatabase, tamper } from '../support/database-file.ts';
import { execute } from '../support/execute.ts';
import { accountOf, makeLink, returned, startLinkServer, submitLink, verifyUser } from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startWorker } from '../support/revocations.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { accessToken } from '../support/tokens.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const ORIGIN = 'https://api.acme.example';
const SECRET = 'canary-0f3b9a7d51';
const text = (field_name: string, more: object = {}) => ({ field_name, label: 'Label', input_type: 'text', ...more });
const password = (field_name: string, more: object = {}) => ({ ...text(field_name, more), input_type: 'password' });

/** A caller who may not read credentials must not be able to read one by changing a provider. */
describe('credentials whose provider changes', () => {
  let acme: Upstream;
  let server: TestServer;
  /** The token of a client that may do everything except read credentials. */
  let writer: string;

  before(async () => {
    // Echoes everything that it is sent.
    acme = await startUpstream(({ target, headers, body }, res) => json(res, 200, { target, headers, body }));
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(ORIGIN) } });
    writer = await accessToken(server, { scopes: SCOPES.filter((scope) => scope !== 'credentials:read') });
  });
  beforeEach(() => {
    acme.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, { token: writer, ...(body !== undefined && { body }) });
  const putProvider = (identifier: string, body: object) => call('PUT', `/api/v1/custom-providers/${identifier}`, body);
  const putAccount = (id: string, connected_account: object) =>
    call('PUT', '/api/v1/connected_accounts', { id, connected_account });
  const get = (id: string, more: object = {}) =>
    execute(server, id, 'http_get', { path: '/echo' }, { token: writer, body: { ...more } });
  const typed = (details: Record<string, string>) => ({ authorization_details: { static_auth: { details } } });

  async function provide(pattern: object, more: object = {}): Promise<string> {
    const proxy = { proxy_enabled: true, proxy_url: `${ORIGIN}/base` };
    return (await createProvider(server, { auth_patterns: [pattern], ...proxy, ...more })).identifier;
  }

  const connect = async (connector: string, connectedAccount: Record<string, unknown>) =>
    (await createAccount(server, { connector, connectedAccount })).id;

  /** Reads every place that shows a value of an account without `credentials:read`. */
  async function everythingShown(id: string): Promise<TestResponse[]> {
    return [
      await get(id, { dry_run: true }),
      await get(id),
      await call('GET', `/api/v1/connected_accounts/details?id=${id}`),
      await call('GET', '/api/v1/connected_accounts'),
      await putAccount(id, { api_config: { note: 'changed' } }),
      await call('GET', `/api/v1/connected_accounts/details?id=${id}`),
    ];
  }

  async function expectHidden(id: string): Promise<void> {
    for (const answer of await everythingShown(id)) expect(answer.text).not.to.include(SECRET);
    const { publicDetails } = await accountRow(server, id);
    expect(JSON.stringify(publicDetails)).not.to.include(SECRET);
    expect(JSON.stringify(dumpDatabase(server)['audit_log'] ?? [])).not.to.include(SECRET);
    expect(server.logs.join('')).not.to.include(SECRET);
  }

  /** Changes a definition as an upgrade of the catalogue would: without a request that could be rejected. */
  function rewrite(identifier: string, pattern: object): void {
    const statement = `update custom_providers set definition = json_set(definition, '$.auth_patterns', json(?)) where identifier = ?`;
    const { databaseFile } = server.parts.config;
    expect(tamper(databaseFile, statement, JSON.stringify([pattern]), identifier)).to.equal(1);
  }

  const OTHER = text('region');
  const holders: [type: string, secret: object, opened: object, details: Record<string, string>][] = [
    ['API_KEY', { fields: [password('api_key'), OTHER] }, { fields: [text('api_key'), OTHER, password('token')] }, {}],
    [
      'BEARER_TOKEN',
      { fields: [password('token'), OTHER] },
      { fields: [text('token'), OTHER, password('api_key')] },
      {},
    ],
    [
      'BASIC',
      { fields: [text('username'), password('pin'), password('password')] },
      { fields: [text('username'), text('pin'), password('password')] },
      {},
    ],
    ['CUSTOM', { fields: [password('x_key'), OTHER] }, { fields: [text('x_key'), OTHER] }, {}],
    [
      'CUSTOM',
      { fields: [password('x_key')] },
      { fields: [{ ...text('x_key'), input_type: 'select', options: [SECRET] }] },
      {},
    ],
    ['CUSTOM', {}, { fields: [text('x_key')] }, { x_key: SECRET }],
    [
      'CUSTOM',
      { fields: [{ ...text('x_key'), input_type: 'textarea' }] },
      { fields: [text('x_key', { is_path_param: true })] },
      {},
    ],
  ];
  for (const [index, [type, secret, opened, own]] of holders.entries()) {
    const before = { type, ...secret };
    const names = ((secret as { fields?: { field_name: string; input_type: string }[] }).fields ?? []).map(
      ({ field_name: name, input_type: kind }) => [name, kind === 'text' ? 'eu-west' : SECRET],
    );
    const details = { ...Object.fromEntries(names), ...own };

    it(`H1: refuses to make a secret field of ${type} public while accounts hold it (${index})`, async () => {
      const connector = await provide(before);
      const ids = [await connect(connector, typed(details)), await connect(connector, typed(details))];
      const moved = { auth_patterns: [{ type, ...opened }], proxy_url: `${ORIGIN}/{{x_key}}` };
      const change = JSON.stringify(opened).includes('is_path_param')
        ? moved
        : { auth_patterns: [{ type, ...opened }] };
      const refused = await putProvider(connector, change);
      expect(refused.body, refused.text).to.include({ status: 409, code: 'PROVIDER_IN_USE' });
      expect(refused.body.errors[0].message).to.include('2 accounts').and.include(ids[0]).and.include(ids[1]);
      for (const id of ids) await expectHidden(id);
    });

    it(`H1: returns no value that was typed as a secret of ${type} when its definition changes (${index})`, async () => {
      const connector = await provide(before);
      const id = await connect(connector, typed(details));
      const first = Object.entries(details).find(([, value]) => value !== SECRET);
      rewrite(connector, { type, ...opened });
      await expectHidden(id);
      const partial = first ? typed({ [first[0]]: 'eu-north' }) : {};
      expect((await putAccount(id, partial)).text).not.to.include(SECRET);
      await expectHidden(id);
    });
  }

  it('H1: lists a limited number of the accounts that have a secret', async () => {
    const connector = await provide({ type: 'CUSTOM', fields: [password('x_key')] });
    for (let n = 0; n < 12; n++) await connect(connector, typed({ x_key: SECRET }));
    const refused = await putProvider(connector, { auth_patterns: [{ type: 'CUSTOM', fields: [text('x_key')] }] });
    const [{ field, message }] = refused.body.errors;
    expect(field).to.equal('auth_patterns[0].fields[0].input_type');
    expect(message).to.include('12 accounts').and.include('and others');
    expect(message.match(/ca_/g)).to.have.length(10);
  });

  it('H1: keeps a value secret whose field was removed and added again as another one', async () => {
    const connector = await provide({ type: 'CUSTOM', fields: [password('x_key'), OTHER] });
    const id = await connect(connector, typed({ x_key: SECRET, region: 'eu-west' }));
    expect((await putProvider(connector, { auth_patterns: [{ type: 'CUSTOM', fields: [OTHER] }] })).status).to.equal(
      200,
    );
    expect((await accountRow(server, id)).status).to.equal('PENDING_AUTH');
    const back = { auth_patterns: [{ type: 'CUSTOM', fields: [text('x_key'), OTHER] }] };
    expect((await putProvider(connector, back)).status).to.equal(409);
    await expectHidden(id);
  });

  it('H1: allows a field to become public that no account has', async () => {
    const connector = await provide({ type: 'CUSTOM', fields: [password('x_key'), password('x_other')] });
    const id = await connect(connector, typed({ x_key: SECRET }));
    const opened = { auth_patterns: [{ type: 'CUSTOM', fields: [password('x_key'), text('x_other')] }] };
    expect((await putProvider(connector, opened)).status).to.equal(200);
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
    const shown = await putAccount(id, typed({ x_other: 'not-a-secret' }));
    expect(shown.body.connected_account.authorization_details.static_auth.details).to.deep.equal({
      x_other: 'not-a-secret',
    });
    await expectHidden(id);
  });

  it('H1: hides values of a field that becomes secret, immediately and in the database', async () => {
    const connector = await provide({ type: 'CUSTOM', fields: [text('x_key'), OTHER] });
    const id = await connect(connector, typed({ x_key: SECRET, region: 'eu-west' }));
    expect((await get(id)).text).to.include(SECRET);
    const closed = { auth_patterns: [{ type: 'CUSTOM', fields: [password('x_key'), OTHER] }] };
    expect((await putProvider(connector, closed)).status).to.equal(200);
    await expectHidden(id);
    const { publicDetails } = await accountRow(server, id);
    expect(publicDetails).to.deep.equal({ static_auth: { details: { region: 'eu-west' } } });
  });

  it('H1: never returns the credential of a type, even if it is entered as text', async () => {
    for (const [type, fields, details] of [
      ['API_KEY', [text('api_key')], { api_key: SECRET }],
      ['BEARER_TOKEN', [text('pat')], { pat: SECRET }],
      ['BASIC', [text('username'), text('password')], { username: 'ada', password: SECRET }],
      ['BASIC', [text('username')], { username: SECRET }],
    ] as const) {
      const connector = await provide({
        type,
        fields,
        auth_field_mutations: { [fields[0].field_name]: { prefix: '' } },
      });
      const id = await connect(connector, typed(details as unknown as Record<string, string>));
      await expectHidden(id);
    }
  });

  it('H1: returns no error that reveals whether a stored secret matches a later rule', async () => {
    const fields = [password('x_key', { required: true }), OTHER];
    const connector = await provide({ type: 'CUSTOM', fields });
    const id = await connect(connector, typed({ x_key: SECRET, region: 'eu-west' }));
    for (const pattern of ['canary-.{1,20}', 'nothing-like-it']) {
      const rule = { auth_patterns: [{ type: 'CUSTOM', fields: [{ ...fields[0], pattern }, OTHER] }] };
      expect((await putProvider(connector, rule)).status).to.equal(200);
      const answer = await putAccount(id, typed({ region: pattern }));
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.connected_account.status).to.equal('ACTIVE');
    }
    const refused = await putAccount(id, typed({ x_key: 'other' }));
    expect(refused.body).to.include({ code: 'INVALID_AUTHORIZATION_DETAILS' });
  });

  describe('H1: a link', () => {
    const user = { user_id: 'ada', identifier: 'ada' };

    it('does not accept a form whose secret fields have become public since it was shown', async () => {
      const connector = await provide({ type: 'CUSTOM', fields: [password('x_key')] });
      const link = await makeLink(server, { connector, ...user });
      const browser = new TestBrowser();
      const page = await browser.open(link);
      const hidden = Object.fromEntries(
        [...page.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      );
      expect(
        (await putProvider(connector, { auth_patterns: [{ type: 'CUSTOM', fields: [text('x_key')] }] })).status,
      ).to.equal(200);
      const sent = await browser.submit(link, { ...hidden, field_x_key: 'typed-into-a-stale-form' });
      expect(sent.status).to.equal(403);
      expect(JSON.stringify(dumpDatabase(server))).not.to.include('typed-into-a-stale-form');
    });

    it('keeps a value secret that was typed as a secret, when its field becomes public before the user is verified', async () => {
      const connector = await provide({ type: 'CUSTOM', fields: [password('x_key')] });
      const someone = { user_id: 'eve', identifier: 'eve@app.example' };
      const page = await submitLink(new TestBrowser(), await makeLink(server, { connector, ...someone }), {
        x_key: SECRET,
      });
      const { authRequestId } = returned(page);
      expect(
        (await putProvider(connector, { auth_patterns: [{ type: 'CUSTOM', fields: [text('x_key')] }] })).status,
      ).to.equal(200);
      expect((await verifyUser(server, authRequestId, someone.identifier)).status).to.equal(200);
      const { id } = (await accountOf(server, someone.identifier)) as { id: string };
      await expectHidden(id);
    });
  });

  describe('M1: a credential', () => {
    const key = { type: 'API_KEY', auth_header_key_override: 'X-Api-Key' };
    const custom = { type: 'CUSTOM', fields: [password('x_key'), OTHER] };
    const changes: [what: string, before: object, after: object][] = [
      ['is placed in the query', key, { type: 'API_KEY', placement: { in: 'query', name: 'q' } }],
      ['is placed in another header', key, { type: 'API_KEY', auth_header_key_override: 'X-Note' }],
      ['loses its header', key, { type: 'API_KEY' }],
      ['gets a prefix', key, { ...key, auth_field_mutations: { api_key: { prefix: 'q=' } } }],
      ['gets a suffix', key, { ...key, auth_field_mutations: { api_key: { suffix: '&x' } } }],
      ['is sent as a tool call of MCP', key, { ...key, is_mcp: true }],
      [
        'has a field that moves into the body',
        custom,
        { type: 'CUSTOM', fields: [password('x_key', { placement: { in: 'body', name: 'x' } }), OTHER] },
      ],
      [
        'gives its place to another field',
        { type: 'API_KEY', fields: [password('key_a'), password('key_b')] },
        { type: 'API_KEY', fields: [password('key_b'), password('key_a')] },
      ],
    ];
    for (const [what, before, after] of changes) {
      it(`that ${what} is not used until it is given again`, async () => {
        const connector = await provide(before);
        const names = ((before as { fields?: { field_name: string }[] }).fields ?? [{ field_name: 'api_key' }]).map(
          ({ field_name }) => field_name,
        );
        const details = Object.fromEntries(names.map((name) => [name, name === 'region' ? 'eu-west' : SECRET]));
        const id = await connect(connector, typed(details));
        expect((await get(id)).status).to.equal(200);
        acme.requests.length = 0;
        const changed = await putProvider(connector, { auth_patterns: [after] });
        expect(changed.status, changed.text).to.equal(200);
        expect((await get(id)).body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
        expect((await get(id, { dry_run: true })).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
        expect(acme.requests).to.deep.equal([]);
        const row = await accountRow(server, id);
        expect(row).to.include({ status: 'PENDING_AUTH' });
        expect(row.statusReason).to.include('different place');
        const [event] = await auditOf(server, id);
        expect(event).to.deep.include({ action: 'connected_account.parked', details: { reason: row.statusReason } });
        if (JSON.stringify(after).includes('is_mcp')) return;
        const again = await putAccount(
          id,
          typed(Object.fromEntries(Object.keys(details).map((name) => [name, 'new']))),
        );
        expect(again.body.connected_account.status).to.equal('ACTIVE');
      });
    }

    it('of OAuth is not sent in another header, nor inside other text', async () => {
      const oauth_config = { authorize_uri: `${ORIGIN}/authorize`, token_uri: `${ORIGIN}/token` };
      const before = { type: 'OAUTH', oauth_config };
      for (const more of [
        { auth_header_key_override: 'X-Note' },
        { auth_field_mutations: { access_token: { prefix: 'note ' } } },
      ]) {
        const connector = await provide(before);
        const id = await connect(connector, { authorization_details: { oauth_token: { access_token: SECRET } } });
        expect((await get(id)).status).to.equal(200);
        expect((await putProvider(connector, { auth_patterns: [{ ...before, ...more }] })).status).to.equal(200);
        expect((await accountRow(server, id)).status).to.equal('PENDING_AUTH');
      }
    });

    it('is not kept in a partial change after its place was changed', async () => {
      const connector = await provide(custom);
      const id = await connect(connector, typed({ x_key: SECRET, region: 'eu-west' }));
      const moved = { type: 'CUSTOM', fields: [password('x_key', { placement: { in: 'query', name: 'q' } }), OTHER] };
      await putProvider(connector, { auth_patterns: [moved] });
      await putAccount(id, typed({ region: 'eu-north' }));
      await get(id);
      expect(JSON.stringify(acme.requests)).not.to.include(SECRET);
      await expectHidden(id);
    });

    it('stays in use when only descriptions change, or when a field is added that it does not have', async () => {
      const connector = await provide(custom);
      const id = await connect(connector, typed({ x_key: SECRET }));
      const described = { ...custom, display_name: 'Key', description: 'Where to find it' };
      const fields = [password('x_key', { label: 'Other', hint: 'Ask', required: true }), OTHER, text('team')];
      await putProvider(connector, { auth_patterns: [{ ...described, fields }], display_name: 'Other' });
      expect((await get(id)).status).to.equal(200);
      expect(acme.requests.at(-1)?.headers['x_key']).to.equal(SECRET);
    });

    it('is not sent in another way when the definition was changed in the database', async () => {
      const connector = await provide(key);
      const id = await connect(connector, typed({ api_key: SECRET }));
      rewrite(connector, { type: 'API_KEY', placement: { in: 'query', name: 'q' } });
      expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
      const raw = await server.call('GET', '/api/v1/proxy/echo', { headers: { 'valetkey-account-id': id } });
      expect(raw.status).not.to.equal(200);
      expect(acme.requests).to.deep.equal([]);
    });
  });

  describe('M9: an account', () => {
    const PLACE = text('tenant', { is_path_param: true, required: true });
    const details = typed({ api_key: SECRET });

    it('that types its base address stays below it: a longer path is accepted, another one is not', async () => {
      const base = (path: string) => ({ api_config: { base_url: `${ORIGIN}${path}` } });
      for (const [path, status] of [
        ['/tenants/ada/v1', 'ACTIVE'],
        ['/tenants/ada/', 'ACTIVE'],
        ['/tenants/eve', 'PENDING_AUTH'],
        ['/tenants/adam', 'PENDING_AUTH'],
        ['/tenants', 'PENDING_AUTH'],
        ['', 'PENDING_AUTH'],
      ] as const) {
        const id = await connect('http', { ...base('/tenants/ada'), ...details });
        const moved = await putAccount(id, base(path));
        expect(moved.body.connected_account.status, path).to.equal(status);
        await get(id);
        const targets = acme.requests.map(({ target }) => target);
        expect(
          targets.every((target) => target.startsWith('/tenants/ada/')),
          String(targets),
        ).to.equal(true);
      }
    });

    for (const [base, expected] of [
      [`${ORIGIN}/tenants/Ada`, 'PENDING_AUTH'],
      [`${ORIGIN}/tenants/%61da`, 'PENDING_AUTH'],
      [`${ORIGIN}/tenants//ada`, 'PENDING_AUTH'],
      [`${ORIGIN}/tenants/ada;x=1`, 'PENDING_AUTH'],
      [`${ORIGIN}:443/tenants/eve`, 'PENDING_AUTH'],
      ['https://API.ACME.EXAMPLE/tenants/eve', 'PENDING_AUTH'],
      ['https://api.acme.example./tenants/ada', 'PENDING_AUTH'],
      ['http://api.acme.example/tenants/ada', 'PENDING_AUTH'],
      [`${ORIGIN}/tenants/ada/../eve`, 400],
      [`${ORIGIN}/tenants/ada/%2e%2e/eve`, 400],
      [`${ORIGIN}/tenants/ada/%252e%252e/eve`, 400],
      [`${ORIGIN}/tenants/ada/..;/eve`, 400],
      [`${ORIGIN}/tenants/ada/..%3b/eve`, 400],
      [`${ORIGIN}/tenants/ada%2f..%2feve`, 400],
      [`${ORIGIN}/tenants/ada\\..\\eve`, 400],
      ['https://u:p@api.acme.example/tenants/ada', 400],
      ['https:api.acme.example/tenants/ada', 400],
    ] as const) {
      it(`does not send its credential elsewhere by the base ${base}`, async () => {
        const id = await connect('http', { api_config: { base_url: `${ORIGIN}/tenants/ada` }, ...details });
        const moved = await putAccount(id, { api_config: { base_url: base } });
        expect(moved.body.connected_account?.status ?? moved.status).to.equal(expected);
        await get(id);
        for (const { target } of acme.requests) expect(target).to.equal('/tenants/ada/echo');
      });
    }

    it('can return to the base that it was created for, and not above it', async () => {
      const base = (path: string) => ({ api_config: { base_url: `${ORIGIN}${path}` } });
      const id = await connect('http', { ...base('/tenants/ada'), ...details });
      for (const path of ['/tenants/ada/deep', '/tenants/ada']) {
        expect((await putAccount(id, base(path))).body.connected_account.status).to.equal('ACTIVE');
        expect((await get(id)).status).to.equal(200);
      }
      expect((await putAccount(id, base('/tenants/v2'))).body.connected_account.status).to.equal('PENDING_AUTH');
      const actions = (await auditOf(server, id)).map(({ action }) => action);
      expect(actions).to.include('connected_account.parked');
    });

    it('whose value is part of the path of a base does not move to the path of another value', async () => {
      const connector = await provide(
        { type: 'API_KEY', account_fields: [PLACE] },
        { proxy_url: `${ORIGIN}/t/{{tenant}}` },
      );
      const id = await connect(connector, { api_config: { tenant: 'v1' }, ...details });
      expect((await get(id)).status).to.equal(200);
      acme.requests.length = 0;
      expect((await putAccount(id, { api_config: { tenant: 'v2' } })).body.connected_account.status).to.equal(
        'PENDING_AUTH',
      );
      expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
      expect(acme.requests).to.deep.equal([]);
    });

    it('is deactivated when its provider moves to another path of the host', async () => {
      const connector = await provide({ type: 'API_KEY' }, { proxy_url: `${ORIGIN}/tenants/acme/v1` });
      const id = await connect(connector, details);
      for (const [path, status] of [
        ['/tenants/acme/v2', 'ACTIVE'],
        ['/tenants/acme/v1/more', 'ACTIVE'],
        ['/tenants/evil/v1', 'PENDING_AUTH'],
      ]) {
        const { body } = await putProvider(connector, { proxy_url: `${ORIGIN}${path}` });
        expect(body.provider.proxy_url).to.equal(`${ORIGIN}${path}`);
        expect((await accountRow(server, id)).status, path).to.equal(status);
      }
    });

    describe('with a refresh token', () => {
      const config = (path: string, more: object = {}) => ({
        authorize_uri: `${ORIGIN}/acme/authorize`,
        token_uri: `${ORIGIN}${path}/token`,
        revocation_uri: `${ORIGIN}${path}/revoke`,
        client_auth_method: 'client_secret_post',
        ...more,
      });
      const token = (value: string) => ({ authorization_details: { oauth_token: { refresh_token: value } } });
      const pattern = (oauth_config: object) => ({ type: 'OAUTH', oauth_config, account_fields: [text('tenant')] });
      const PROXY = { proxy_url: `${ORIGIN}/acme` };

      async function provideOAuth(oauth_config: object) {
        const connector = await provide(pattern(oauth_config), PROXY);
        const client = { client_id: 'app', client_secret: 'of-the-operator' };
        const connection = await createConnection(server, { connector, ...client });
        return { connector, connection };
      }
      const setClient = (id: string) =>
        call('PUT', `/api/v1/connections/${id}`, { client_id: 'other', client_secret: 'of-another' });
      const sent = () => acme.requests.filter(({ body }) => body.includes(SECRET)).map(({ target }) => target);

      it('sends it to its own token endpoint (negative control)', async () => {
        const { connection } = await provideOAuth(config('/t/ada'));
        const id = await connect(connection.key_id, token(SECRET));
        await get(id);
        expect(sent()).to.deep.equal(['/t/ada/token']);
      });

      const moves: [what: string, changed: object][] = [
        ['token endpoint', config('/t/ada', { token_uri: `${ORIGIN}/t/eve/token` })],
        [
          'token endpoint by a segment that a server could read as a dot segment',
          config('/t/ada', { token_uri: `${ORIGIN}/t/ada/..;/eve/token` }),
        ],
        ['revocation endpoint', config('/t/ada', { revocation_uri: `${ORIGIN}/t/eve/revoke` })],
        ['endpoints', config('/t/eve')],
        ['issuer', config('/t/ada', { issuer: `${ORIGIN}/t/eve` })],
      ];
      for (const [what, changed] of moves) {
        it(`does not send it to another path of the host when the ${what} of its provider changes`, async () => {
          const { connector, connection } = await provideOAuth(config('/t/ada'));
          const id = await connect(connection.key_id, token(SECRET));
          expect((await putProvider(connector, { auth_patterns: [pattern(changed)] })).status).to.equal(200);
          expect((await setClient(connection.id)).body.connection.status).not.to.equal('DRAFT');
          expect(await accountRow(server, id)).to.include({
            status: 'PENDING_AUTH',
            statusReason: 'The OAuth endpoints of the provider have changed since the account was connected.',
          });
          expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
          await call('POST', '/api/v1/connected_accounts:delete', { id });
          await startWorker(server).run();
          expect(sent()).to.deep.equal([]);
        });
      }

      it('does not send it to another path of the host when the definition was changed in the database', async () => {
        const { connector, connection } = await provideOAuth(config('/t/ada'));
        const ids = [await connect(connection.key_id, token(SECRET)), await connect(connection.key_id, token(SECRET))];
        rewrite(connector, pattern(config('/t/eve')));
        expect((await setClient(connection.id)).status).to.equal(200);
        expect((await get(ids[0] as string)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
        for (const id of ids) await call('POST', '/api/v1/connected_accounts:delete', { id });
        await startWorker(server).run();
        expect(sent()).to.deep.equal([]);
      });

      it('does not send it to the path of another value of the account', async () => {
        const open = config('/t/{{tenant}}', { authorize_uri: `${ORIGIN}/t/{{tenant}}/authorize` });
        const { connection } = await provideOAuth(open);
        const allowed = { allowed_addresses: [`${ORIGIN}/t`], client_id: 'app', client_secret: 'of-the-operator' };
        expect((await call('PUT', `/api/v1/connections/${connection.id}`, allowed)).status).to.equal(200);
        const id = await connect(connection.key_id, { api_config: { tenant: 'ada' }, ...token(SECRET) });
        const moved = await putAccount(id, { api_config: { tenant: 'eve' } });
        expect(moved.body.connected_account.status).to.equal('PENDING_AUTH');
        await get(id);
        await call('POST', '/api/v1/connected_accounts:delete', { id });
        await startWorker(server).run();
        expect(sent()).to.deep.equal([]);
      });

      it('stays in use when its endpoints move to a directory below, or to another version', async () => {
        const { connector, connection } = await provideOAuth(config('/t/ada/v1'));
        const id = await connect(connection.key_id, token(SECRET));
        for (const path of ['/t/ada/v2', '/t/ada/v1/deep']) {
          expect((await putProvider(connector, { auth_patterns: [pattern(config(path))] })).status).to.equal(200);
          expect((await accountRow(server, id)).status, path).to.equal('ACTIVE');
        }
      });
    });

    it('with its own client is not led to another path by a value of the account', async () => {
      const oauth_config = { token_uri: `${ORIGIN}/t/{{tenant}}/token`, client_auth_method: 'client_secret_post' };
      const fields = [text('client_id'), password('client_secret')];
      const connector = await provide({ type: 'OAUTH_M2M', oauth_config, fields, account_fields: [PLACE] });
      const client = typed({ client_id: 'app', client_secret: SECRET });
      const id = await connect(connector, { api_config: { tenant: 'ada' }, ...client });
      await get(id);
      expect(acme.requests.map(({ target }) => target)).to.include('/t/ada/token');
      const moved = await putAccount(id, { api_config: { tenant: 'eve' } });
      expect(moved.body.connected_account.status).to.equal('PENDING_AUTH');
      expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
      expect(acme.requests.map(({ target }) => target)).not.to.include('/t/eve/token');
    });

    for (const climb of ['..;', '..;x', '%2e%2e;', '%252e%252e', '..%2f', '..%5c', '%c0%ae%c0%ae', '%uff0e.'])
      it(`is deactivated when the path of its provider leads upwards for some servers by ${climb}`, async () => {
        const connector = await provide({ type: 'API_KEY' }, { proxy_url: `${ORIGIN}/tenants/acme` });
        const id = await connect(connector, details);
        const moved = await putProvider(connector, { proxy_url: `${ORIGIN}/tenants/acme/${climb}/evil` });
        expect(moved.status, moved.text).to.equal(200);
        expect((await accountRow(server, id)).status).to.equal('PENDING_AUTH');
        expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
        expect(acme.requests).to.deep.equal([]);
      });

    it('is not called at another path by settings that were changed in the database', async () => {
      const id = await connect('http', { api_config: { base_url: `${ORIGIN}/tenants/ada` }, ...details });
      const statement = `update accounts set api_config = json_set(api_config, '$.base_url', ?) where id = ?`;
      expect(tamper(server.parts.config.databaseFile, statement, `${ORIGIN}/tenants/eve`, id)).to.equal(1);
      expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
      expect(acme.requests).to.deep.equal([]);
    });
  });
});
