import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Details } from '../../core/accounts/authorization-details.ts';
import { sealCredentials } from '../../core/accounts/credentials.ts';
import type { AuthorizationType } from '../../core/authorization/type.ts';
import { operationsOf } from '../../scripts/openapi-document.ts';
import { wrap } from '../../wiring/overrides.ts';
import { contract } from '../contract/contract.ts';
import { createConnector, SAMPLES, TYPES } from '../support/all-types.ts';
import { Canaries } from '../support/canaries.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { requestOf } from '../support/contract-requests.ts';
import type { FaultPlace } from '../support/failing-store.ts';
import { failingStore } from '../support/failing-store.ts';
import type { TestRequest, TestResponse, TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { firstEnvironment } from '../support/tokens.ts';
import type { ReceivedRequest, Upstream, UpstreamHandler } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const ECHO = 'https://echo.acme.test';

/** A secret in plain text is a leak, except in the responses whose purpose is to show it. */
describe('planted secrets (C4, E5, S4, S5)', () => {
  const canaries = new Canaries();
  const answers: { what: string; answer: TestResponse }[] = [];
  /** The places whose secrets were shown by responses that may show them. */
  const shown = new Set<string>();
  let server: TestServer;
  let clock: TestClock;
  let upstream: Upstream;
  let files: Buffer;
  let metrics: string;
  const fault = { place: undefined as FaultPlace | undefined, error: () => new Error('no disk') };

  before(async () => {
    clock = testClock();
    upstream = await startUpstream();
    server = await startTestServer({
      env: {
        VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(ECHO),
        VALETKEY_KEYS: `kek_canarykey:${Buffer.from(canaries.plant('the key-encryption key')).toString('base64').padEnd(43, 'A').slice(0, 43)}=`,
        VALETKEY_CLIENT_SECRET: canaries.plant('the secret of the first client'),
        LOG_LEVEL: 'trace',
      },
      overrides: { now: clock.now, store: wrap((store) => failingStore(store, fault)) },
    });
    for (const type of TYPES) await driveAccount(type);
    await driveMisplacedSecrets();
    await driveConnections();
    await driveClients();
    await driveEverything();
    metrics = await server.parts.metrics.registry.metrics();
    const { databaseFile } = server.parts.config;
    files = Buffer.concat(['', '-wal', '-shm'].map((suffix) => readFileSync(databaseFile + suffix)));
    await server.stop();
  });
  after(() => Promise.all([server.stop(), upstream.stop()]));

  async function call(what: string, method: string, path: string, request: TestRequest = {}): Promise<TestResponse> {
    const answer = await server.call(method, path, request);
    answers.push({ what: `${what}: ${method} ${path.split('?')[0]} ${answer.status}`, answer });
    return answer;
  }

  /** For responses whose purpose is to show a secret: removes it from its place before the rest is checked. */
  function allow(answer: TestResponse, take: (body: Record<string, unknown>) => unknown): void {
    const copy = structuredClone(answer.body);
    const taken = JSON.stringify(take(copy) ?? null);
    for (const place of canaries.foundIn(taken)) shown.add(place);
    const entry = answers.find((candidate) => candidate.answer === answer);
    if (entry) entry.answer = { ...answer, body: copy, text: JSON.stringify(copy) };
  }

  const takeDetails = (body: Record<string, unknown>): unknown => {
    const account = body['connected_account'] as Record<string, unknown> | undefined;
    const details = account?.['authorization_details'];
    if (account) account['authorization_details'] = {};
    return details;
  };
  const takeSecret = (name: string) => (body: Record<string, unknown>) => {
    const secret = body[name];
    delete body[name];
    return secret;
  };

  /** Returns the sample's details, with planted secrets in place of its secret values. */
  function plantedDetails(type: AuthorizationType, round: string): Record<string, unknown> | undefined {
    const { details } = SAMPLES[type];
    if (!details) return undefined;
    const plant = (value: unknown, place: string): unknown => {
      if (typeof value === 'string') return value.startsWith('secret-') ? canaries.plant(`${place} ${round}`) : value;
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plant(inner, `${place}.${key}`)]));
    };
    return plant(details, type) as Record<string, unknown>;
  }

  /** The credentials that the service itself would have obtained for an account. */
  const TEMPORARY: Partial<Record<AuthorizationType, () => Details>> = {
    WORKSPACE_DWD: () => ({ workspace_dwd: { access_token: canaries.plant('WORKSPACE_DWD.access_token') } }),
    TRUSTED_IDP: () => ({
      trusted_idp: {
        access_key_id: 'ASIAEXAMPLE',
        secret_access_key: canaries.plant('TRUSTED_IDP.secret_access_key'),
        session_token: canaries.plant('TRUSTED_IDP.session_token'),
      },
    }),
  };

  async function obtain(id: string, type: AuthorizationType, given: Details): Promise<void> {
    const temporary = TEMPORARY[type]?.();
    if (!temporary) return;
    const { store, vault } = server.parts;
    const row = await accountRow(server, id);
    const sealed = sealCredentials(vault, row, given, temporary);
    const { id: environmentId } = await firstEnvironment(server);
    await store.write((tx) =>
      tx.accounts.update(environmentId, id, row.version, { ...sealed, updatedAt: row.updatedAt }),
    );
  }

  /**
   * Runs every operation on one account of a type, from its creation to its deletion. Each step is also tried by a
   * client that may not read credentials, and with a failure.
   */
  async function driveAccount(type: AuthorizationType): Promise<void> {
    const connector = await createConnector(server, [SAMPLES[type].pattern], { proxyUrl: ECHO });
    const writer = server.token('accounts:write', 'accounts:read', 'tools:execute');
    const first = plantedDetails(type, 'at first');
    const create = (identifier: string, details: unknown) => ({
      connector,
      identifier,
      user_id: 'u',
      ...(details !== undefined && { connected_account: { authorization_details: details } }),
    });
    const headers = { 'idempotency-key': `create-${type}` };
    const body = create('i', first);
    const created = await call(type, 'POST', ACCOUNTS, { body, headers });
    expect(created.status, created.text).to.equal(201);
    allow(created, takeDetails);
    allow(await call(type, 'POST', ACCOUNTS, { body, headers }), takeDetails);
    await call(type, 'POST', ACCOUNTS, { body: create('other', first), headers });
    await call(type, 'POST', ACCOUNTS, { body });
    await call(type, 'POST', ACCOUNTS, {
      body: create('by-writer', plantedDetails(type, 'by a writer')),
      token: writer,
    });
    const { id } = created.body.connected_account;
    await obtain(id, type, (first ?? {}) as Details);

    const update = (details: unknown) => ({ id, connected_account: { authorization_details: details ?? {} } });
    const renewed = plantedDetails(type, 'renewed');
    allow(await call(type, 'GET', `${ACCOUNTS}/auth?id=${id}`), takeDetails);
    allow(await call(type, 'PUT', ACCOUNTS, { body: update({}) }), takeDetails);
    await call(type, 'PUT', ACCOUNTS, { body: update(renewed), token: writer });
    await obtain(id, type, (renewed ?? {}) as Details);
    fault.place = 'write';
    for (const [method, content] of [
      ['PUT', update(first)],
      ['POST', create('failing', first)],
    ] as const) {
      await call(type, method, ACCOUNTS, { body: content });
    }
    fault.place = undefined;
    await call(type, 'PUT', ACCOUNTS, {
      body: { ...update(first), connected_account: { authorization_details: first, status: 'ACTIVE' } },
    });
    await call(type, 'PUT', ACCOUNTS, { body: update(first), token: server.token('accounts:read') });
    await call(type, 'PUT', ACCOUNTS, { body: update(first), token: null });
    await call(type, 'PUT', ACCOUNTS, { body: { ...update(first), identifier: 'not-this-one' } });
    await driveTools(type, id);
    for (const query of [`/details?id=${id}`, `?connector=${connector}`, `:search?query=${connector}`]) {
      await call(type, 'GET', ACCOUNTS + query);
    }
    await call(type, 'POST', `${ACCOUNTS}:disconnect`, { body: { id } });
    await call(type, 'POST', `${ACCOUNTS}:delete`, { body: { id } });
    await call(type, 'GET', `${ACCOUNTS}/auth?id=${id}`);
  }

  /** A third party that returns everything that it received, in every possible format. */
  const ECHOES: UpstreamHandler[] = [
    (request, res) => json(res, 200, redisplayableValues(request)),
    (request, res) => json(res, 401, redisplayableValues(request)),
    (request, res) => json(res, 400, { error: `bad request: ${JSON.stringify(redisplayableValues(request))}` }),
    (request, res) =>
      void res
        .writeHead(500, { 'content-type': 'text/html' })
        .end(`<p>${JSON.stringify(redisplayableValues(request))}</p>`),
    (request, res) =>
      void res.writeHead(200, { 'content-type': 'text/plain' }).end(JSON.stringify(redisplayableValues(request))),
    (request, res) => void res.writeHead(302, { location: `/?${new URLSearchParams(request.headers)}` }).end(),
    (_request, res) => void res.destroy(),
  ];

  function redisplayableValues(request: ReceivedRequest): unknown {
    const { headers, target, body } = request;
    const basic = /^Basic (.*)$/.exec(String(headers['authorization']))?.[1] ?? '';
    return { headers, target, body, decoded: Buffer.from(basic, 'base64').toString() };
  }

  async function driveTools(type: AuthorizationType, id: string): Promise<void> {
    for (const [round, echo] of ECHOES.entries()) {
      upstream.handler = echo;
      for (const dry_run of round === 0 ? [true, false] : [false]) {
        const body = {
          connected_account_id: id,
          tool_name: 'http_post',
          tool_input: { path: '/echo', body: { a: 1 } },
          dry_run,
        };
        await call(type, 'POST', '/api/v1/execute_tool', { body });
      }
    }
  }

  /** Sends secrets in wrong places, and in malformed bodies. */
  async function driveMisplacedSecrets(): Promise<void> {
    const connector = await createConnector(server, [SAMPLES.API_KEY.pattern]);
    const secret = (place: string) => canaries.plant(`misplaced: ${place}`);
    const create = (connected_account: unknown, more = {}) => ({
      connector,
      identifier: 'm',
      user_id: 'u',
      connected_account,
      ...more,
    });
    const details = (value: object) => ({ authorization_details: { static_auth: { details: value } } });
    const bodies: unknown[] = [
      create(details({ no_such_field: secret('unknown field') })),
      create(details({ api_key: { nested: secret('wrong type') } })),
      create(details({ api_key: `${secret('too long')}${'x'.repeat(16_385)}` })),
      create(details({ api_key: `${secret('control character')}\u0000` })),
      create({ authorization_details: { api_key: secret('no form') } }),
      create({ authorization_details: { oauth_token: { access_token: [secret('array')] } } }),
      create({ authorization_details: { oauth_token: { access_token: secret('wrong form') } } }),
      create({ authorization_details: secret('text instead of object') }),
      create({}, { password: secret('unknown member') }),
      create(details({ api_key: secret('pattern of a vendor') }), { connector: 'stripe' }),
      { ...create(details({ api_key: secret('unknown connector') })), connector: 'no-such-connector' },
    ];
    for (const body of bodies) {
      await call('misplaced', 'POST', ACCOUNTS, { body });
      await call('misplaced', 'PUT', ACCOUNTS, { body });
    }
    const asJson = { 'content-type': 'application/json' };
    const raw: [string | Buffer, Record<string, string>][] = [
      [`{"connector": ${secret('no JSON')}`, asJson],
      [`{"a": "${secret('duplicate key')}", "a": 1}`, asJson],
      [`{"a": "${secret('cut short')}`, asJson],
      [`${'['.repeat(40)}"${secret('too deep')}"`, asJson],
      [`"${secret('too large')}${'x'.repeat(300_000)}"`, asJson],
      [secret('plain text'), { 'content-type': 'text/plain' }],
      [gzipSync(secret('compressed')), { ...asJson, 'content-encoding': 'gzip' }],
    ];
    for (const [body, headers] of raw) await call('unreadable', 'POST', ACCOUNTS, { body, headers });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const grant = `grant_type=client_credentials&client_id=${CLIENT_ID}&client_secret=`;
    await call('misplaced', 'POST', '/oauth/token', {
      body: grant + secret('wrong client secret'),
      headers: form,
      token: null,
    });
    await call('misplaced', 'POST', '/oauth/token', {
      body: `${grant}${secret('unknown form field')}&x=1`,
      headers: form,
      token: null,
    });
    await call('misplaced', 'GET', `${ACCOUNTS}?access_token=${secret('query')}`);
    await call('misplaced', 'GET', ACCOUNTS, { token: secret('wrong access token') });
    await call('misplaced', 'GET', ACCOUNTS, { headers: { authorization: `Basic ${secret('wrong scheme')}` } });
    await call('misplaced', 'GET', ACCOUNTS, {
      headers: { cookie: `session=${secret('cookie')}`, host: 'unknown.example.test' },
    });
    await call('misplaced', 'POST', ACCOUNTS, { body: {}, headers: { 'idempotency-key': secret('idempotency key') } });
  }

  async function driveConnections(): Promise<void> {
    const secret = (place: string) => canaries.plant(`client secret of a connection: ${place}`);
    const create = {
      connector: 'slack',
      key_id: 'slack-canary',
      type: 'OAUTH',
      client_id: 'id',
      client_secret: secret('created'),
    };
    const headers = { 'idempotency-key': 'connection' };
    const { body } = await call('connection', 'POST', '/api/v1/connections', { body: create, headers });
    await call('connection', 'POST', '/api/v1/connections', { body: create, headers });
    await call('connection', 'POST', '/api/v1/connections', { body: create });
    const path = `/api/v1/connections/${body.connection.id}`;
    await call('connection', 'PUT', path, { body: { client_secret: secret('updated') } });
    await call('connection', 'PUT', path, {
      body: { client_secret: secret('refused'), verification_mode: 'SOMETIMES' },
    });
    fault.place = 'write';
    await call('connection', 'PUT', path, { body: { client_secret: secret('failing') } });
    fault.place = undefined;
    for (const action of ['', ':disable', ':enable']) await call('connection', action ? 'POST' : 'GET', path + action);
    await call('connection', 'GET', '/api/v1/connections');
  }

  async function driveClients(): Promise<void> {
    const body = { name: 'A client', scopes: ['accounts:read'] };
    const created = await call('client', 'POST', '/api/v1/api_clients', { body });
    canaries.watch('minted client secret', created.body.client_secret);
    allow(created, takeSecret('client_secret'));
    const path = `/api/v1/api_clients/${created.body.api_client.id}`;
    const rotated = await call('client', 'POST', `${path}:rotate_secret`, { body: {} });
    canaries.watch('rotated client secret', rotated.body.client_secret);
    allow(rotated, takeSecret('client_secret'));
    const grant = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: created.body.api_client.id,
      client_secret: rotated.body.client_secret,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const issued = await call('client', 'POST', '/oauth/token', { body: grant.toString(), headers, token: null });
    canaries.watch('access token', issued.body.access_token);
    allow(issued, takeSecret('access_token'));
    await call('client', 'GET', ACCOUNTS, { token: issued.body.access_token });
    await call('client', 'GET', '/api/v1/api_clients');
    await call('client', 'POST', `${path}:disable`);
  }

  /**
   * Calls every operation of the contract with its own examples, with and without a token, and with a failing storage.
   */
  async function driveEverything(): Promise<void> {
    for (const operation of operationsOf(contract)) {
      const { method, path, request } = requestOf(operation);
      for (const place of [undefined, 'read', 'write'] as const) {
        fault.place = place;
        await call(operation.id, method, path, request);
      }
      fault.place = undefined;
      await call(operation.id, method, path, { ...request, token: null });
    }
    for (const path of ['/openapi.json', '/openapi.yaml', '/docs', '/nothing']) await call('page', 'GET', path);
  }

  it('exist in large numbers, and were sent through successes and failures of every kind', () => {
    expect(canaries.size).to.be.greaterThan(60);
    expect(answers.length).to.be.greaterThan(400);
    const statuses = new Set(answers.map(({ answer }) => answer.status));
    expect([...statuses]).to.include.members([200, 201, 400, 401, 403, 404, 409, 413, 415, 421, 422, 500, 502]);
    const operations = operationsOf(contract).map(({ id }) => id);
    expect(answers.map(({ what }) => what.split(':')[0])).to.include.members(operations);
  });

  it('are found in the places where they must be (control)', () => {
    const value = canaries.plant('the control');
    const hidden = [value, `x${value}y`, Buffer.from(value).toString('hex')];
    for (const prefix of ['', 'a', 'ab', 'ada:']) hidden.push(Buffer.from(`${prefix}${value}z`).toString('base64'));
    for (const text of hidden) expect(canaries.foundIn(text), text).to.deep.equal(['the control']);
    expect(canaries.foundIn('nothing')).to.deep.equal([]);
  });

  it('are in the responses that are meant to show them', () => {
    const places = ['API_KEY.static_auth.api_key', 'OAUTH.oauth_token.access_token', 'OAUTH.oauth_token.refresh_token'];
    for (const place of places) {
      expect(
        [...shown].some((found) => found.startsWith(place.replace('static_auth.', 'static_auth.details.'))),
        place,
      ).to.equal(true);
    }
    expect([...shown]).to.include.members([
      'minted client secret',
      'rotated client secret',
      'access token',
      'WORKSPACE_DWD.access_token',
    ]);
  });

  it('are not in responses whose schema excludes them', () => {
    expect([...shown]).not.to.include('TRUSTED_IDP.secret_access_key');
    expect([...shown]).not.to.include('TRUSTED_IDP.session_token');
  });

  it('were sent to the third party, so the executions used them', () => {
    const sent = upstream.requests.map((request) => JSON.stringify(request)).join();
    for (const type of [
      'API_KEY',
      'BEARER_TOKEN',
      'BASIC',
      'BASIC_AUTH',
      'CUSTOM',
      'OAUTH',
      'SMART_FHIR',
      'WORKSPACE_DWD',
    ]) {
      expect(
        canaries.foundIn(sent).some((place) => place.startsWith(type)),
        type,
      ).to.equal(true);
    }
  });

  it('are in no other response, neither its body nor its headers', () => {
    for (const { what, answer } of answers) {
      expect(canaries.foundIn(answer.text), what).to.deep.equal([]);
      expect(canaries.foundIn(JSON.stringify(answer.headers)), what).to.deep.equal([]);
    }
  });

  it('are in no line of the log, at its most verbose level', () => {
    expect(server.logs.length).to.be.greaterThan(400);
    expect(server.logs.some((line) => JSON.parse(line).level >= 50)).to.equal(true);
    for (const line of server.logs) expect(canaries.foundIn(line), line.slice(0, 200)).to.deep.equal([]);
  });

  it('are in no metric', () => {
    expect(metrics).to.include('valetkey_http_request_duration_seconds');
    expect(canaries.foundIn(metrics)).to.deep.equal([]);
  });

  it('are nowhere in the database, its log or its index', () => {
    expect(files.includes('ACTIVE')).to.equal(true);
    expect(canaries.foundIn(files)).to.deep.equal([]);
  });
});
